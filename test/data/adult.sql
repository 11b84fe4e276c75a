-- The table adult with its 32,561 rows. Needs the psql variable "data": the directory of adult.csv.
CREATE TABLE adult (
    age            integer,
    workclass      text,
    fnlwgt         integer,
    education      text,
    education_num  integer,
    marital_status text,
    occupation     text,
    relationship   text,
    race           text,
    sex            text,
    capital_gain   integer,
    capital_loss   integer,
    hours_per_week integer,
    native_country text,
    income         text
);
-- \copy replaces no variables in its arguments, but a variable may hold a whole command.
\set load '\\copy adult from ''' :data '/adult.csv'' csv header'
:load
ANALYZE adult;
