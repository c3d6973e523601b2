from .blobs import blobs as blobs, blobs_data as blobs_data
from .bundled import Bundled as Bundled, bundled as bundled, read as read
from .convolutional import mnist_conv as mnist_conv, mnist_conv_facts as mnist_conv_facts
from .digits import (
    mnist_he as mnist_he,
    mnist_he_facts as mnist_he_facts,
    mnist_l1 as mnist_l1,
    mnist_l1_facts as mnist_l1_facts,
)
from .iris import iris as iris, iris_test as iris_test
