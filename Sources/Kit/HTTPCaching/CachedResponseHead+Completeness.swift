import HTTPTypes

extension CachedResponseHead {
    /// Whether a body of so many bytes is what `Content-Length` announced; without that field, the end of the message
    /// had to tell. RFC 9111 §3.3.
    ///
    /// It holds for bytes as received: a client that removes the content coding has to say so by removing
    /// `Content-Length`.
    public func isComplete(bodyLength: Int) -> Bool {
        guard let announced = headerFields[.contentLength].flatMap({ Int($0) }) else { return true }
        return announced == bodyLength
    }
}
