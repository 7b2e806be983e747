import Foundation
import HTTPTypes

extension SecretCleaner {
    /// Returns a body without its secrets.
    ///
    /// In a text whose parts have no names, such as a file that a user downloads, only secrets that were met before are
    /// replaced.
    func body(_ body: [UInt8], _ form: BodyForm) -> [UInt8] {
        if case .multipart(let boundary) = form { return multipart(body, boundary) }
        guard form != .other, let text = String(validating: body, as: UTF8.self), !body.contains(0) else {
            return replaced(in: body) ?? body
        }
        return Array(self.body(text, form).utf8)
    }

    /// Returns the text of a body without its secrets.
    func body(_ text: String, _ form: BodyForm) -> String {
        var scanner = SecretScanner(text, cleaner: self)
        switch form {
        case .json: return scanner.cleaned(.json)
        case .form: return withoutKnown(self.form(text, .form))
        case .markup: return scanner.cleaned(.markup)
        case .assignments: return scanner.cleaned(SecretScanner.Syntax(of: text) ?? .assignments)
        case .multipart, .text, .other: return withoutKnown(text)
        }
    }

    /// Returns the parts of a body without their secrets. Each has a name, or a type of its own.
    private func multipart(_ body: [UInt8], _ boundary: String) -> [UInt8] {
        let delimiter = Array("--\(boundary)".utf8)
        var (written, position) = ([UInt8](), 0)
        while position < body.count {
            let end = body[position...].firstRange(of: delimiter)?.lowerBound ?? body.count
            written += part(Array(body[position..<end]))
            written += body[end..<min(body.count, end + delimiter.count)]
            position = end + delimiter.count
        }
        return written
    }

    private func part(_ part: [UInt8]) -> [UInt8] {
        guard let head = part.firstRange(of: Array("\r\n\r\n".utf8)) else { return replaced(in: part) ?? part }
        var fields = HTTPFields()
        for line in String(decoding: part[..<head.lowerBound], as: UTF8.self).split(whereSeparator: \.isNewline) {
            let sides = line.split(separator: ":", maxSplits: 1).map { String($0).trimmed }
            if sides.count == 2, let name = HTTPField.Name(sides[0]) { fields[name] = sides[1] }
        }
        // A line break belongs to the delimiter that follows.
        let isWhole = part.suffix(2) == Array("\r\n".utf8)[...]
        let content = Array(part[head.upperBound...].dropLast(isWhole ? 2 : 0))
        let shown = self.part(content, fields)
        return part[..<head.upperBound] + shown + (isWhole ? Array("\r\n".utf8) : [])
    }

    private func part(_ content: [UInt8], _ fields: HTTPFields) -> [UInt8] {
        let disposition = fields[.contentDisposition] ?? ""
        let name = disposition.firstMatch(of: /name="?([^";]*)/)?.output.1 ?? ""
        let text = String(validating: content, as: UTF8.self)
        if let text, !text.isEmpty, SecretName.extent(of: name, in: .form) != .nothing {
            return Array(hidden(text).utf8)
        }
        if fields[.contentType] != nil { return body(content, BodyForm(fields)) }
        guard let text, !disposition.contains("filename") else { return replaced(in: content) ?? content }
        return Array(self.text(text).utf8)
    }
}
