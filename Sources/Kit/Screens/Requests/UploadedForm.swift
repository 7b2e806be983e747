import Concurrency
package import Foundation
import HTTPTypes
import NIOCore
package import Server
package import Storage

/// A form with files, as a client sent it. The files are on disk and are removed with the value.
package struct UploadedForm: Sendable {
    /// The memory and disk space that a form may take.
    package struct Limits: Sendable {
        package var files: Int
        /// Number of other fields, and of inputs without a chosen file.
        package var fields: Int
        package var fileBytes: Int
        package var bodyBytes: Int
        /// Bytes of one field that is not a file.
        var fieldBytes: Int

        package init(files: Int, fields: Int = 16, fileBytes: Int, bodyBytes: Int, fieldBytes: Int = 64 << 10) {
            (self.files, self.fields) = (files, fields)
            self.fileBytes = fileBytes
            self.bodyBytes = bodyBytes
            self.fieldBytes = fieldBytes
        }
    }

    package struct File: Sendable {
        package let head: MultipartPartHead
        /// The file with its bytes.
        package let place: TemporaryPath
        /// Number of bytes.
        package let length: Int
        /// The first bytes, at most 64.
        package let beginning: Data

        /// Its name as the client gives it, without folders; nil if it gives none. To be shown, never to be opened.
        package var fileName: String? { head.fileName }

        /// Returns a text for messages: its name, or else its position among the files, counted from 1.
        package func title(at index: Int) -> String {
            head.fileName.flatMap { $0.isEmpty ? nil : UploadedForm.legible($0) } ?? "file \(index + 1)"
        }
    }

    /// The files in order, without inputs that have no chosen file, which browsers send as an empty one without a name.
    package internal(set) var files: [File] = []
    /// The other fields, in order.
    package internal(set) var fields: [(name: String, value: String)] = []

    /// Returns a client's text for a message: without control characters, at most 100 characters.
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
    /// Reads the body as a form, writing its files to `folder` while they arrive. No body at all is a form without
    /// parts.
    /// - Throws: 415 for another kind of body, 400 for a malformed form or a part that the route does not take. 413 if
    ///   it exceeds the limits, with the name of the file at fault; `StorageError`.
    package func uploadedForm(into folder: ScratchFolder, limits: UploadedForm.Limits) async throws -> UploadedForm {
        if headerFields[.contentType] == nil, headerFields[.transferEncoding] == nil, declaredBodyLength ?? 0 == 0 {
            return UploadedForm()
        }
        do {
            var receiver = FormReceiver(folder: folder, limits: limits, input: input)
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

/// Stores the parts of a form within its limits.
struct FormReceiver {
    private enum Current {
        case file(MultipartPartHead, ScratchFile, beginning: Data)
        case field(String, Data)
    }

    let folder: ScratchFolder
    let limits: UploadedForm.Limits
    let input: RouteInput
    private(set) var form = UploadedForm()
    private var current: Current?
    /// Parts that are no files.
    private var others = 0

    init(folder: ScratchFolder, limits: UploadedForm.Limits, input: RouteInput) {
        self.folder = folder
        self.limits = limits
        self.input = input
    }

    /// Checks the size of the body so far.
    /// - Throws: 413 if it is too large.
    func admit(bytes: Int) throws {
        guard bytes <= limits.bodyBytes else {
            throw Problem(.tooLarge, "The body may have \(limits.bodyBytes) bytes at most.")
        }
    }

    mutating func take(_ event: MultipartParser.Event) throws {
        switch event {
        case .part(let head): try begin(head)
        case .data(let bytes): try append(bytes)
        case .partEnd: try end()
        }
    }

    private mutating func begin(_ head: MultipartPartHead) throws {
        try input.check(formField: head.name)
        // RFC 7578 §4.2 requires a name of files, §4.4 no type of plain fields; either of them makes a file here.
        let isFile = head.fileName != nil || head.contentType.map { !$0.lowercased().hasPrefix("text/plain") } ?? false
        current = isFile ? .file(head, try folder.file(), beginning: Data()) : .field(head.name, Data())
    }

    private mutating func append(_ bytes: ArraySlice<UInt8>) throws {
        switch current {
        case .file(let head, let file, var beginning):
            guard file.length + bytes.count <= limits.fileBytes else {
                let title = head.fileName.map { UploadedForm.legible($0) } ?? "file \(form.files.count + 1)"
                let detail: Text = "\(title) has more than the \(limits.fileBytes) bytes that a file may have."
                throw Problem(.tooLarge, detail, errors: [.field("/files/\(form.files.count)", "too-large", detail)])
            }
            try file.append(bytes)
            if beginning.count < 64 { beginning.append(contentsOf: bytes.prefix(64 - beginning.count)) }
            current = .file(head, file, beginning: beginning)
        case .field(let name, var value):
            current = nil  // The second reference goes, so that appending copies nothing.
            guard value.count + bytes.count <= limits.fieldBytes else {
                let detail = "has more than the \(limits.fieldBytes) bytes that a field may have."
                throw Problem(.tooLarge, "Field \(UploadedForm.legible(name)) \(detail)")
            }
            value.append(contentsOf: bytes)
            current = .field(name, value)
        case nil: break
        }
    }

    private mutating func end() throws {
        switch current {
        case .file(let head, let file, let beginning):
            if file.length > 0 || head.fileName?.isEmpty == false {
                guard form.files.count < limits.files else { throw Problem(.tooLarge, .tooManyFiles(limits.files)) }
                form.files.append(.init(head: head, place: file.place, length: file.length, beginning: beginning))
            } else {
                others += 1
            }
        case .field(let name, let value):
            others += 1
            form.fields.append((name, String(decoding: value, as: UTF8.self)))
        case nil: break
        }
        current = nil
        guard others <= limits.fields else {
            throw Problem(.tooLarge, "The form may have \(limits.fields) fields beside its files at most.")
        }
    }
}
