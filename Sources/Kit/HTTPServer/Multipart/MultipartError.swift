/// Why a body is no multipart/form-data (RFC 7578, RFC 2046 §5.1).
public enum MultipartError: Error, Sendable, Equatable {
    /// The `Content-Type` is of another kind, or missing; what it is.
    case otherType(String)
    /// The `boundary` is missing, or not 1 to 70 characters of RFC 2046 §5.1.1.
    case badBoundary
    /// Something else than a line end or `--` follows a boundary.
    case malformedDelimiter
    /// The header of a part has more bytes than are read.
    case headerTooLarge(limit: Int)
    /// The header of a part cannot be read; what is wrong with it.
    case malformedHeader(String)
    /// The body ended before its last boundary.
    case truncated
}
