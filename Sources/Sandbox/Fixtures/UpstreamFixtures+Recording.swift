public import Foundation
import HTTPTypes
import Synchronization

extension UpstreamFixtures {
    /// Longest text that is searched for secrets, in bytes: longer ones are kept as they are.
    static let longestText = 16 << 20

    /// Fields of a connection, and times: they are not those of a recording.
    private static let omitted: Set<String> = [
        "connection", "keep-alive", "transfer-encoding", "content-length", "date", "age", "trailer", "upgrade",
        "proxy-authenticate", "proxy-authorization", "te", "fixture",
    ]

    /// Request fields that no recording is chosen by, even if `Vary` names them.
    private static let unmatched: Set<String> = [
        "accept-encoding", "user-agent", "origin", "x-request-id", "traceparent", "tracestate", "larder-cause",
        "sandbox-fault", "if-none-match", "if-modified-since", "authorization", "cookie",
    ]

    /// A new file for a long body, in the folder of the upstream.
    /// - Throws: ``FixtureError``.
    public func bodyFile() throws(FixtureError) -> URL {
        guard let folder = state.withLock({ $0.folder?.url }) else { throw .noFolder(upstream: name) }
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let file = folder.appending(path: ".part-\(UUID().uuidString)")
            try Data().write(to: file, options: .withoutOverwriting)
            return file
        } catch {
            throw FixtureError(writing: folder.path, error)
        }
    }

    /// Writes an exchange into a file.
    ///
    /// The first one of a request takes the place of those that earlier recordings have of it. One that is like the
    /// last of the same request is not written again. What no file can have, such as a status below 200, is reported
    /// and not written.
    ///
    /// - Parameter response: With its whole body; a file of it is taken.
    /// - Throws: ``FixtureError``.
    public func keep(_ request: FixtureRequest, _ response: FixtureResponse) throws(FixtureError) {
        guard Fixture.statuses.contains(response.status.code) else {
            report("\(name): a response with status \(response.status.code) is not recorded")
            return Self.discard(response.content)
        }
        let match = self.match(request, response)
        let header = response.headerFields.filter { !Self.isOmitted($0, request) }.map { field in
            let name = field.name.canonicalName
            return Fixture.Field(
                name: name,
                value: scrubber.value(field.value, ofField: name, isWritten: true)
            )
        }
        let content = try self.content(response)
        let result = withFiles { state -> Result<Void, FixtureError> in
            Result { () throws(FixtureError) in
                try Self.write(match, response, header, content, &state, upstream: self.name)
            }
        }
        do throws(FixtureError) {
            try result.get()
        } catch {
            if case .file(let url, _) = content { Self.discard(.file(url, 0)) }
            guard case .notReadable = error else { throw error }
            report("\(name): \(error)")
        }
    }

    private static func discard(_ content: FixtureResponse.Content) {
        // It may be one of a recording that is there no more.
        if case .file(let url, _) = content { try? FileManager.default.removeItem(at: url) }
    }

    private static func isOmitted(_ field: HTTPField, _ request: FixtureRequest) -> Bool {
        if field.name == .contentLength, request.method == .head { return false }
        return omitted.contains(field.name.canonicalName)
    }

    private func match(_ request: FixtureRequest, _ response: FixtureResponse) -> FixtureMatch {
        let target = scrubber.target(request.target, isWritten: true)
        var match = FixtureMatch(line: "\(request.method.rawValue) \(target)")
        let varied = response.headerFields[values: .vary].flatMap { $0.split(separator: ",") }.map {
            String($0).trimmed.lowercased()
        }
        for name in Set(varied + ["range"]).subtracting(Self.unmatched).sorted() {
            guard let field = HTTPField.Name(name), let value = request.headerFields[field] else { continue }
            let shown = scrubber.value(value, ofField: name, isWritten: true)
            match.header.append(.init(name: name, value: .equal(shown)))
        }
        guard let body = request.body, body.count > 0 else { return match }
        let type = request.headerFields[.contentType]?.lowercased() ?? ""
        if type.hasPrefix("multipart/") { return match }  // its boundary is another one each time
        let form = BodyForm(request.headerFields)
        guard let text = body.text else {
            match.digest = body.sha256
            return match
        }
        let shown = scrubber.text(text, form.redaction, isData: true, isWritten: true)
        let value = form == .json ? try? JSONParser.parse(Array(shown.utf8)) : nil
        match.body = value.flatMap { $0.object == nil ? nil : .json($0) } ?? .contains(shown)
        return match.storable(shown, digest: shown == text ? body.sha256 : nil)
    }

    /// What is written of a body.
    enum Kept {
        case content(Fixture.Content)
        case bytes([UInt8], ending: String)
        case file(URL, ending: String)
    }

    private func content(_ response: FixtureResponse) throws(FixtureError) -> Kept {
        let ending = BodyForm.ending(response.headerFields)
        let form = BodyForm(response.headerFields)
        let isText = response.headerFields[.contentEncoding] == nil && response.content.count <= Self.longestText
        if case .file(let url, _) = response.content, !isText || form == .other { return .file(url, ending: ending) }
        let bytes: [UInt8]
        do {
            bytes = try response.bytes()
            if case .file(let url, _) = response.content { try FileManager.default.removeItem(at: url) }
        } catch {
            throw FixtureError(writing: name, error)
        }
        guard !bytes.isEmpty else { return .content(.none) }
        guard isText, form != .other, let text = String(validating: bytes, as: UTF8.self), !bytes.contains(0) else {
            return .bytes(bytes, ending: ending)
        }
        let shown = scrubber.text(text, form.redaction, isData: form.isData, isWritten: true)
        let clean = Array(shown.utf8)
        guard clean.count <= Fixture.inline else { return .bytes(clean, ending: ending) }
        let isJSON = form == .json && (try? JSONParser.parse(clean)) != nil && JSONText.compact(clean) == clean
        return .content(isJSON ? .json(clean) : .text(shown))
    }
}
