"""Just enough of libpq, by ctypes: one message to the server, and everything that it sends back.

Connections follow the PG* environment variables. What psql would format, and thereby hide, is kept as it came: every field
of an error or notice, and the name, type and modifier of every column.
"""
import ctypes
import ctypes.util
from typing import NamedTuple

EMPTY_QUERY, COMMAND_OK, TUPLES_OK, COPY_OUT, COPY_IN, BAD_RESPONSE, NONFATAL_ERROR, FATAL_ERROR = range(8)
# severity, SQLSTATE, message, detail, hint, position, internal position and query, context, schema, table, column, type,
# constraint, source file, line and function
FIELDS = "SCMDHPpqWstcdnFLR"

_pq = ctypes.CDLL(ctypes.util.find_library("pq") or "libpq.so.5")
_receiver = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
for _name, _result, _arguments in (
    ("PQconnectdb", ctypes.c_void_p, [ctypes.c_char_p]),
    ("PQstatus", ctypes.c_int, [ctypes.c_void_p]),
    ("PQerrorMessage", ctypes.c_char_p, [ctypes.c_void_p]),
    ("PQbackendPID", ctypes.c_int, [ctypes.c_void_p]),
    ("PQfinish", None, [ctypes.c_void_p]),
    ("PQtransactionStatus", ctypes.c_int, [ctypes.c_void_p]),
    ("PQsetNoticeReceiver", ctypes.c_void_p, [ctypes.c_void_p, _receiver, ctypes.c_void_p]),
    ("PQsendQuery", ctypes.c_int, [ctypes.c_void_p, ctypes.c_char_p]),
    ("PQgetResult", ctypes.c_void_p, [ctypes.c_void_p]),
    ("PQclear", None, [ctypes.c_void_p]),
    ("PQresultStatus", ctypes.c_int, [ctypes.c_void_p]),
    ("PQresultErrorField", ctypes.c_char_p, [ctypes.c_void_p, ctypes.c_int]),
    ("PQcmdStatus", ctypes.c_char_p, [ctypes.c_void_p]),
    ("PQnfields", ctypes.c_int, [ctypes.c_void_p]),
    ("PQntuples", ctypes.c_int, [ctypes.c_void_p]),
    ("PQfname", ctypes.c_char_p, [ctypes.c_void_p, ctypes.c_int]),
    ("PQftype", ctypes.c_uint, [ctypes.c_void_p, ctypes.c_int]),
    ("PQfmod", ctypes.c_int, [ctypes.c_void_p, ctypes.c_int]),
    ("PQgetisnull", ctypes.c_int, [ctypes.c_void_p, ctypes.c_int, ctypes.c_int]),
    ("PQgetvalue", ctypes.c_char_p, [ctypes.c_void_p, ctypes.c_int, ctypes.c_int]),
    ("PQgetCopyData", ctypes.c_int, [ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p), ctypes.c_int]),
    ("PQputCopyEnd", ctypes.c_int, [ctypes.c_void_p, ctypes.c_char_p]),
    ("PQfreemem", None, [ctypes.c_void_p]),
):
    _function = getattr(_pq, _name)
    _function.restype, _function.argtypes = _result, _arguments


class Result(NamedTuple):
    """One result of a message; error is empty where there was none."""
    status: int
    tag: str = ""
    columns: tuple = ()  # (name, type, modifier)
    rows: tuple = ()
    error: tuple = ()  # (field, text)

    def field(self, name):
        return dict(self.error).get(name, "")


class Reply(NamedTuple):
    """All that came back for one message."""
    results: tuple
    notices: tuple

    def sqlstate(self):
        """Of the first error; empty if there was none."""
        return next((result.field("C") or "lost" for result in self.results if result.error), "")


def _text(value):
    return "" if value is None else value.decode("utf-8", "replace")


def _fields(result):
    pairs = ((field, _text(_pq.PQresultErrorField(result, ord(field)))) for field in FIELDS)
    return tuple((field, text) for field, text in pairs if text)


class Connection:
    def __init__(self, **parameters):
        quoted = " ".join("%s='%s'" % (k, v.replace("\\", "\\\\").replace("'", "\\'")) for k, v in parameters.items())
        self._notices = []
        self.used = False  # for whoever shares it
        self._connection = _pq.PQconnectdb(quoted.encode())
        if not self.alive():
            message = _text(_pq.PQerrorMessage(self._connection))
            self.close()
            raise ConnectionError(message)
        self.pid = _pq.PQbackendPID(self._connection)
        self._keep = _receiver(lambda _, result: self._notices.append(_fields(result)))
        _pq.PQsetNoticeReceiver(self._connection, self._keep, None)

    def alive(self):
        return self._connection is not None and _pq.PQstatus(self._connection) == 0

    def in_transaction(self):
        return _pq.PQtransactionStatus(self._connection) != 0

    def close(self):
        if self._connection is not None:
            _pq.PQfinish(self._connection)
        self._connection = None

    def send(self, sql):
        """One message, as PQexec would send it."""
        self.used = True
        self._notices.clear()
        results = []
        if _pq.PQsendQuery(self._connection, sql.encode()) != 1:
            results.append(Result(FATAL_ERROR, error=(("M", _text(_pq.PQerrorMessage(self._connection))),)))
        while True:
            result = _pq.PQgetResult(self._connection)
            if not result:
                return Reply(tuple(results), tuple(self._notices))
            results.append(self._read(result))
            _pq.PQclear(result)

    def must(self, sql):
        """The rows of a statement that has to succeed."""
        reply = self.send(sql)
        if reply.sqlstate():
            raise RuntimeError(f"{sql}: {reply.results[-1].field('M')}")
        return reply.results[-1].rows

    def _read(self, result):
        status = _pq.PQresultStatus(result)
        if status in (BAD_RESPONSE, NONFATAL_ERROR, FATAL_ERROR):
            return Result(status, error=_fields(result) or (("M", _text(_pq.PQerrorMessage(self._connection))),))
        if status == COPY_OUT:
            return Result(status, rows=tuple(self._copied()))
        if status == COPY_IN:
            _pq.PQputCopyEnd(self._connection, None)
            return Result(status)
        columns = range(_pq.PQnfields(result))
        return Result(
            status, _text(_pq.PQcmdStatus(result)),
            tuple((_text(_pq.PQfname(result, c)), _pq.PQftype(result, c), _pq.PQfmod(result, c)) for c in columns),
            tuple(tuple(None if _pq.PQgetisnull(result, r, c) else _text(_pq.PQgetvalue(result, r, c)) for c in columns)
                  for r in range(_pq.PQntuples(result))))

    def _copied(self):
        buffer = ctypes.c_void_p()
        while (length := _pq.PQgetCopyData(self._connection, ctypes.byref(buffer), 0)) > 0:
            yield (ctypes.string_at(buffer, length).decode("utf-8", "replace"),)
            _pq.PQfreemem(buffer)
