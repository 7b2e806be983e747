package import Foundation

/// A file of a form.
package struct FormFile: Sendable {
    /// The header of its part, without the empty line.
    package var head: String
    /// Its bytes.
    package var bytes: Data

    /// A file of the field `files`.
    package init(_ name: String, _ bytes: Data, type: String = "application/octet-stream") {
        self.init(
            head: "Content-Disposition: form-data; name=\"files\"; filename=\"\(name)\"\r\nContent-Type: \(type)",
            bytes
        )
    }

    /// A file with a header of its own.
    package init(head: String, _ bytes: Data) {
        self.head = head
        self.bytes = bytes
    }
}

/// A body of `multipart/form-data` (RFC 7578).
package struct MultipartForm: Sendable {
    private static let boundary = "limit"

    /// The body.
    package let body: Data

    /// Writes a form of these files.
    package init(_ files: [FormFile]) {
        var body = Data()
        for file in files {
            body += Data("--\(Self.boundary)\r\n\(file.head)\r\n\r\n".utf8) + file.bytes + Data("\r\n".utf8)
        }
        self.body = body + Data("--\(Self.boundary)--\r\n".utf8)
    }

    /// Value of `Content-Type`.
    package var contentType: String { "multipart/form-data; boundary=\(Self.boundary)" }
}
