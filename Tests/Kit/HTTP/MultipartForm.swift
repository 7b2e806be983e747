public import Foundation

/// A file of a form.
public struct FormFile: Sendable {
    /// The header of its part, without the empty line.
    public var head: String
    /// Its bytes.
    public var bytes: Data

    /// A file of the field `files`.
    public init(_ name: String, _ bytes: Data, type: String = "application/octet-stream") {
        self.init(
            head: "Content-Disposition: form-data; name=\"files\"; filename=\"\(name)\"\r\nContent-Type: \(type)",
            bytes
        )
    }

    /// A file with a header of its own.
    public init(head: String, _ bytes: Data) {
        self.head = head
        self.bytes = bytes
    }
}

/// A body of `multipart/form-data` (RFC 7578).
public struct MultipartForm: Sendable {
    private static let boundary = "limit"

    /// The body.
    public let body: Data

    /// Writes a form of these files.
    public init(_ files: [FormFile]) {
        var body = Data()
        for file in files {
            body += Data("--\(Self.boundary)\r\n\(file.head)\r\n\r\n".utf8) + file.bytes + Data("\r\n".utf8)
        }
        self.body = body + Data("--\(Self.boundary)--\r\n".utf8)
    }

    /// Value of `Content-Type`.
    public var contentType: String { "multipart/form-data; boundary=\(Self.boundary)" }
}
