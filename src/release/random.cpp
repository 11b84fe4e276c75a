#include "release/random.hpp"

#include "privacy/noise_impl.hpp"

namespace dp::privacy {

template int128 discrete_laplace(release::StrongBits &bits, const LaplaceScale &scale);
template int128 discrete_gaussian(release::StrongBits &bits, const GaussianScale &scale);

} // namespace dp::privacy
