"""Networks written back as torch modules and ONNX files."""
