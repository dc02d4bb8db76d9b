# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The hot path, compiled. Every function has a twin in Python, named beside it, and the twin is the definition.

=================  ==================================================  ==========================================
file               what                                                twin
=================  ==================================================  ==========================================
vector.h           innermost loops in C                                what NumPy does there
sizes.h            sizes that do not wrap, and memory of them          what NumPy does there
objective.pxi      what a compiled search works on                     maximize/objective.py
kernels.pxi        k, h between points                                 surrogates/gp_fit.py Hyperparameters.cross
factor.pxi         inverse Cholesky factor: build, append              numerics/cholesky.py
posterior.pxi      mean, std and their gradients                       surrogates/gp.py GPModel
pool.pxi           candidates that follow a conditioned model          surrogates/gp_pool.py
improvement.pxi    LogEI, EI, PI, UCB with gradients                   acquisitions/
likelihood.pxi     log posterior of the hyperparameters                surrogates/gp_likelihood.py, gp_fit.py
newton.pxi         minimization with curvature                         numerics/newton.py
lbfgs.pxi          box-constrained L-BFGS, many starts                 numerics/lbfgs.py
starts.pxi         which candidates to climb from                      maximize/multistart.py
projected.pxi      linear sums: projections, chords, climbs            space/projection.py, chords.py; maximize/climb.py
=================  ==================================================  ==========================================

Arrays come in as C-contiguous float64, which is checked as they come in, and their shapes are checked against each other
and against ``dim`` by each function that can be called. The ranges of settings are for the twins' modules to check; but no
number, whatever it is, makes memory smaller than what is written to it: sizes are multiplied by ``times`` and added by
``plus``, and what is too large is a MemoryError. Matrices are stored by rows, so that what is a lower triangle here is an upper one to LAPACK.
"""

from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport INFINITY, M_PI, erfc, exp, fabs, isfinite, log, sqrt
from libc.limits cimport INT_MAX
from libc.stdlib cimport free
from libc.string cimport memcpy, memmove, memset
from scipy.linalg.cython_blas cimport ddot, dgemm, dgemv, dsyrk, dtrmm, dtrmv
from scipy.linalg.cython_lapack cimport dposv

import mmap
import sys

import numpy as np

cdef extern from "sizes.h" nogil:
    Py_ssize_t plus(Py_ssize_t a, Py_ssize_t b)
    Py_ssize_t times(Py_ssize_t a, Py_ssize_t b)
    void *room_for(Py_ssize_t things, size_t size)

cdef extern from "vector.h" nogil:
    int SMALL
    bint small_inverse_factor(Py_ssize_t n, double *A, Py_ssize_t ld)
    void small_precision(Py_ssize_t n, double *A, Py_ssize_t ld)
    void kernel_row(int kernel, Py_ssize_t n, Py_ssize_t d, const double *u, const double *U, Py_ssize_t ld,
                    double signal, double *k, double *h)
    void pulls(Py_ssize_t n, Py_ssize_t d, const double *u, const double *U, Py_ssize_t ld, const double *w, double *out)
    void spreads(Py_ssize_t n, Py_ssize_t d, const double *u, const double *U, Py_ssize_t ld, const double *w,
                 double *out)
    void lengthscale_products(Py_ssize_t n, Py_ssize_t d, const double *u, const double *U, Py_ssize_t ld,
                              const double *h, double a, const double *alpha, double *V, double *out)
    void likelihood_weights(Py_ssize_t n, double a, const double *alpha, const double *precision, const double *h,
                            double *w)
    void whiten_and_back(Py_ssize_t rows, Py_ssize_t first, const double *W, Py_ssize_t ld, Py_ssize_t m,
                         const double *K, Py_ssize_t ldk, double *norms, double *out, const double *zeros)

include "objective.pxi"
include "kernels.pxi"
include "factor.pxi"
include "posterior.pxi"
include "pool.pxi"
include "improvement.pxi"
include "likelihood.pxi"
include "newton.pxi"
include "lbfgs.pxi"
include "starts.pxi"
include "projected.pxi"
