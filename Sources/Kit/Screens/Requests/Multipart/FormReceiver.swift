import Database
import Foundation
import HTTPServer

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
    private var parts = 0

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
        case .partEnd: end()
        }
    }

    private mutating func begin(_ head: MultipartPartHead) throws {
        parts += 1
        guard parts <= limits.parts else {
            throw Problem(.tooLarge, "The form may have \(limits.parts) parts at most.")
        }
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

    private mutating func end() {
        switch current {
        case .file(let head, let file, let beginning):
            if file.length > 0 || head.fileName?.isEmpty == false {
                form.files.append(.init(head: head, place: file.place, length: file.length, beginning: beginning))
            }
        case .field(let name, let value): form.fields.append((name, String(decoding: value, as: UTF8.self)))
        case nil: break
        }
        current = nil
    }
}
