// Apps that use Media need its types for headers and jobs, which are in a module of their own only for the worker.
@_exported public import MediaFormats
