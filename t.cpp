#include "privacy/printed.hpp"
#include <cstdio>
#include <chrono>
#include <random>
using namespace dp::privacy;
int main(){
 for (int g=0; g<2; g++) for (double scale: {0.5, 20.0, 1000.0}) {
  MeasureNoise n; n.mechanism = g? Mechanism::gaussian: Mechanism::laplace;
  n.laplace.t = (uint128)(scale*pair_one); n.laplace.s=1;
  n.gaussian.a = Words256((uint64_t)1); 
  if (g) { n.gaussian.a.words = {0,0,0,0}; double v = scale*scale; uint128 a = (uint128)(v*1024)<<50; n.gaussian.a.words[0]=(uint64_t)a; n.gaussian.a.words[1]=(uint64_t)(a>>64); n.gaussian.b=1; }
  if (g) {uint128 a=(uint128)(scale*scale*1024); a<<=50; n.gaussian.b=1; }
  std::mt19937 r(1);
  auto t0=std::chrono::steady_clock::now(); double s=0;
  for (int i=0;i<2000;i++){ double c = 1+r()%20, d = c*((r()%1001)/500.0-1); PrintedAverage a(n,{c,d}); s+= g? a.square(): a.distance(0);}
  auto t1=std::chrono::steady_clock::now();
  printf("%d %g %g us, mean %g\n",g,scale,std::chrono::duration<double>(t1-t0).count()/2000*1e6,s/2000);
 }
}
