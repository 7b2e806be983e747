import HTTPSemantics
import NIOCore

extension SignificantHead {
    private static let traceparent = Array("traceparent".utf8)
    private static let requestID = Array("x-request-id".utf8)

    /// Returns the trace of the request (W3C Trace Context §3.2); nil if it belongs to none.
    static func traceID(of head: ByteBuffer) -> String? {
        head.withUnsafeReadableBytes { bytes in
            var values: [String] = []
            for line in IteratorSequence(FieldLines(bytes)) {
                let parts = bytes[line].split(separator: UInt8(ascii: ":"), maxSplits: 1)
                guard parts.count == 2, equals(parts[0], traceparent) else { continue }
                values += FieldList.members(of: String(decoding: parts[1], as: UTF8.self)).map(String.init)
            }
            return values.count == 1 ? TraceParent(values[0])?.traceID : nil
        }
    }

    /// Returns the value of `X-Request-Id`; nil without the field, or with several lines of it.
    static func requestID(of head: ByteBuffer) -> String? {
        head.withUnsafeReadableBytes { bytes in
            var lines = FieldLines(bytes)
            var found: Range<Int>?
            while let line = lines.next() {
                let name = line.lowerBound..<line.lowerBound + requestID.count
                guard line.count > name.count, bytes[name.upperBound] == UInt8(ascii: ":"),
                    equals(bytes[name], requestID)
                else { continue }
                guard found == nil else { return nil }
                found = name.upperBound + 1..<line.upperBound
            }
            return found.map { String(FieldList.trim(String(decoding: bytes[$0], as: UTF8.self))) }
        }
    }
}

extension RequestIdentities {
    /// Returns the identity of a request that is responded to without the application.
    func identity(of head: ByteBuffer) -> RequestIdentity { identity(harmless: Self.wanted(in: head)) }

    /// Returns the client's own identity, or the next one.
    func identity(harmless wanted: String?) -> RequestIdentity { wanted.map { .wanted($0) } ?? .assigned(next()) }

    /// Returns the client's own identity if it is harmless.
    static func wanted(in head: ByteBuffer) -> String? {
        SignificantHead.requestID(of: head).flatMap { isHarmless($0) ? $0 : nil }
    }
}
