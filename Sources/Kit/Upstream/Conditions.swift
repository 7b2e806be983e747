import HTTPCaching
import HTTPTypes

extension HTTPFields {
    /// Makes a request conditional on a stored answer's validators (RFC 9110 §13.1).
    mutating func addConditions(of stored: StoredResponse) {
        if let tag = stored.headerFields[.eTag] { self[.ifNoneMatch] = tag }
        if let date = stored.headerFields[.lastModified] { self[.ifModifiedSince] = date }
    }
}
