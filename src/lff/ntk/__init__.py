"""Theory: tangent kernels in closed form, at infinite and at finite width; spectra; contraction."""

from lff.ntk import contraction
from lff.ntk.closed_form import SplitKernel, circle, fourier_kernels, fourier_ntk
from lff.ntk.contraction import Contraction, sigma_bound
from lff.ntk.empirical import empirical_ntk, ntk_vector_product
from lff.ntk.infinite import Kernels, deep_ntk
from lff.ntk.spectrum import (
    CircleSpectrum,
    Prediction,
    Spectrum,
    circle_spectrum,
    frequency,
    predict,
    spectrum,
)
