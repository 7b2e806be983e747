import HTTPSemantics
import HTTPTypes

extension CachedResponseHead {
    /// Returns whether a body with this number of bytes is as long as `Content-Length` declares; without that field the
    /// framing of the message decides. RFC 9111 §3.3.
    ///
    /// It applies to bytes as received: a caller that removes the content coding must remove `Content-Length` as well.
    public func isComplete(bodyLength: Int) -> Bool {
        guard let declared = headerFields.declaredContentLength else { return true }
        return declared == bodyLength
    }
}
