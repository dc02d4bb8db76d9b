"""scikit-learn's kernels."""

from sklearn.gaussian_process.kernels import (
    RBF,
    ConstantKernel,
    DotProduct,
    Exponentiation,
    ExpSineSquared,
    Kernel,
    Matern,
    Product,
    RationalQuadratic,
    Sum,
    WhiteKernel,
)

__all__ = ["RBF", "ConstantKernel", "DotProduct", "ExpSineSquared", "Exponentiation", "Kernel", "Matern", "Product"]
__all__ += ["RationalQuadratic", "Sum", "WhiteKernel"]
