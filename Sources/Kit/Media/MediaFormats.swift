// Apps that use Media read heads of pictures too; they need not know that the worker shares those types.
@_exported public import MediaFormats
