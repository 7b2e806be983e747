extension UInt8 {
    /// Whether the byte is `DIGIT`, `0` to `9`. RFC 5234 appendix B.1.
    public var isASCIIDigit: Bool { self >= 0x30 && self <= 0x39 }
}

extension StringProtocol {
    /// Whether the text is `1*DIGIT`.
    public var isDigits: Bool { !isEmpty && utf8.allSatisfy(\.isASCIIDigit) }
}
