public import HTTPTypes

extension HTTPFields {
    /// The number of bytes that `Content-Length` declares: `1*DIGIT`. RFC 9110 §8.6.
    ///
    /// Nil if the field is absent, is not a number, or has several different values. Equal values in a list count once.
    public var declaredContentLength: Int? {
        let members = self[values: .contentLength].flatMap { FieldList.members(of: $0) }
        guard let first = members.first, first.isDigits, members.allSatisfy({ $0 == first }) else { return nil }
        return Int(first)
    }
}
