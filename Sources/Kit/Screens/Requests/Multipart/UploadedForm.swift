public import Foundation
public import HTTPServer
import HTTPTypes
import NIOCore
public import Storage
import Upstream

/// A form with files, as a client sent it: the files are on the disk and go with the value, so that what is given up
/// leaves nothing.
public struct UploadedForm: Sendable {
    /// What a form may take of memory and disk.
    public struct Limits: Sendable {
        /// Parts, fields and files together.
        public var parts: Int
        /// Bytes of one file.
        public var fileBytes: Int
        /// Bytes of the whole body.
        public var bodyBytes: Int
        /// Bytes of one field that is no file.
        public var fieldBytes: Int

        /// Creates limits.
        public init(parts: Int, fileBytes: Int, bodyBytes: Int, fieldBytes: Int = 64 << 10) {
            self.parts = parts
            self.fileBytes = fileBytes
            self.bodyBytes = bodyBytes
            self.fieldBytes = fieldBytes
        }
    }

    /// A file of the form.
    public struct File: Sendable {
        /// What its part says of it.
        public let head: MultipartPartHead
        /// Where its bytes are.
        public let place: TemporaryPath
        /// How many they are.
        public let length: Int
        /// The first of them, 64 at most.
        public let beginning: Data

        /// Its name as the client gives it, without folders; nil if it gives none. To be shown, never to be opened.
        public var fileName: String? { head.fileName }

        /// Returns a text for messages: its name, or else its position among the files, counted from 1.
        public func title(at index: Int) -> String {
            head.fileName.flatMap { $0.isEmpty ? nil : UploadedForm.legible($0) } ?? "file \(index + 1)"
        }
    }

    /// The files, in order. An input without a chosen file, which browsers send as an empty one without a name, is left
    /// out.
    public internal(set) var files: [File] = []
    /// The other fields, in order.
    public internal(set) var fields: [(name: String, value: String)] = []

    /// A client's text for a message: without control characters, 100 characters at the most.
    static func legible(_ text: String) -> String {
        let scalars = text.unicodeScalars.map { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: Unicode.Scalar(0xFFFD) ?? scalar
            default: scalar
            }
        }
        let legible = String(String.UnicodeScalarView(scalars))
        return legible.count > 100 ? "\(legible.prefix(100))…" : legible
    }
}

extension ScreenRequest {
    /// The body as a form, its files written to `folder` while they arrive. No body at all is a form without anything
    /// in it, as clients send one that has nothing to send.
    ///
    /// 415 for another kind of body, 400 for a broken form, 413 for one over the limits; the file at fault is named.
    public func uploadedForm(into folder: ScratchFolder, limits: UploadedForm.Limits) async throws -> UploadedForm {
        if headerFields[.contentType] == nil, headerFields[.transferEncoding] == nil, declaredBodyLength ?? 0 == 0 {
            return UploadedForm()
        }
        do {
            var receiver = FormReceiver(folder: folder, limits: limits)
            var parser = MultipartParser(try MultipartBoundary(contentType: headerFields[.contentType]))
            try receiver.admit(bytes: declaredBodyLength ?? 0)
            var received = 0
            for try await chunk in bodyStream {
                received += chunk.readableBytes
                try receiver.admit(bytes: received)
                for event in try parser.consume(chunk.readableBytesView) { try receiver.take(event) }
            }
            try parser.finish()
            return receiver.form
        } catch let error as MultipartError {
            throw Problem(error)
        }
    }
}
