"""Theory: tangent kernels in closed form, at infinite and at finite width; spectra; contraction."""

from lff.ntk import contraction as contraction
from lff.ntk.closed_form import FourierKernels as FourierKernels
from lff.ntk.closed_form import fourier_kernels as fourier_kernels
from lff.ntk.closed_form import fourier_ntk as fourier_ntk
from lff.ntk.contraction import Contraction as Contraction
from lff.ntk.contraction import sigma_bound as sigma_bound
from lff.ntk.empirical import EmpiricalKernels as EmpiricalKernels
from lff.ntk.empirical import empirical_ntk as empirical_ntk
from lff.ntk.empirical import ntk_vector_product as ntk_vector_product
from lff.ntk.infinite import Kernels as Kernels
from lff.ntk.infinite import deep_ntk as deep_ntk
from lff.ntk.infinite import relu_ntk as relu_ntk
from lff.ntk.points import circle as circle
from lff.ntk.spectrum import CircleSpectrum as CircleSpectrum
from lff.ntk.spectrum import Prediction as Prediction
from lff.ntk.spectrum import Spectrum as Spectrum
from lff.ntk.spectrum import circle_spectrum as circle_spectrum
from lff.ntk.spectrum import frequency as frequency
from lff.ntk.spectrum import predict as predict
from lff.ntk.spectrum import spectrum as spectrum
