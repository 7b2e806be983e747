package import Foundation
import HTTPTypes
import JSONValues
import Synchronization

extension UpstreamFixtures {
    /// Longest text in which secrets are replaced, in bytes. A longer text is not recorded if it contains a known
    /// secret.
    static let longestText = 16 << 20

    /// Fields of the connection, and times. They are not recorded.
    private static let omitted: Set<String> = [
        "connection", "keep-alive", "transfer-encoding", "content-length", "date", "age", "trailer", "upgrade",
        "proxy-authenticate", "proxy-authorization", "te", "fixture", "content-encoding",
    ]

    /// Request fields that are not compared, even if `Vary` names them.
    private static let unmatched: Set<String> = [
        "accept-encoding", "user-agent", "origin", "x-request-id", "traceparent", "tracestate", "larder-cause",
        "sandbox-fault", "if-none-match", "if-modified-since", "authorization", "cookie",
    ]

    /// A new file for a long body, in the folder of the upstream.
    /// - Throws: ``FixtureError``.
    package func bodyFile() throws(FixtureError) -> URL {
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
    /// The first exchange of a request replaces the files that earlier recordings have of that request. An exchange
    /// that equals the last one of the same request is not written again. Content that no file can have, such as a
    /// status below 200 or a secret in a picture, is reported and not written.
    ///
    /// - Parameter response: The response with its whole body. A file with its body is moved or removed.
    /// - Returns: Whether a file has the exchange.
    /// - Throws: ``FixtureError``.
    @discardableResult
    package func keep(_ request: FixtureRequest, _ response: FixtureResponse) throws(FixtureError) -> Bool {
        guard Fixture.statuses.contains(response.status.code) else {
            report("\(name): a response with status \(response.status.code) is not recorded")
            Self.discard(response.content)
            return false
        }
        do throws(FixtureError) {
            try write(request, response)
            return true
        } catch {
            Self.discard(response.content)
            switch error {
            case .notReadable, .secret:
                report("\(name): \(error)")
                return false
            case .noFolder, .readOnly, .notWritten: throw error
            }
        }
    }

    private func write(_ request: FixtureRequest, _ response: FixtureResponse) throws(FixtureError) {
        cleaner.learn(request.headerFields, request.target)
        let match = self.match(request, response)
        var header: [Fixture.Field] = []
        var suspected = SuspectedSecret.find(inTarget: FixtureMatch.Line(match.line).path)
        for field in response.headerFields where !Self.isOmitted(field, request) {
            let name = field.name.canonicalName
            let value = cleaner.value(field.value, ofField: name)
            suspected += SuspectedSecret.find(inField: name, value)
            header.append(Fixture.Field(name: name, value: value))
        }
        let content = try self.content(response, match.line, &suspected)
        if let first = suspected.first, refusesSuspected { throw .secret(request: match.line, reason: first.text) }
        let result = withFiles { [suspected] state -> Result<Void, FixtureError> in
            Result { () throws(FixtureError) in
                let file = try Self.write(
                    match,
                    response,
                    header,
                    content,
                    &state,
                    upstream: self.name,
                    on: Self.day(self.now()),
                    self.cleaner.secrets
                )
                if let file { state.note(suspected, in: file) }
                try self.cleanWritten(&state)
            }
        }
        try result.get()
        for secret in suspected {
            report("\(name): \(match.line): \(secret.text): look at it before you share the file")
        }
    }

    /// Replaces newly learned secrets in the files that were written before.
    private func cleanWritten(_ state: inout State) throws(FixtureError) {
        let revision = cleaner.secrets.revision
        guard state.revision != revision, let folder = state.folder?.url else { return }
        state.revision = revision
        for fixture in state.folder?.exchanges ?? [] where state.written.contains(fixture.name) {
            var names = [fixture.name]
            if case .file(let body) = fixture.content { names.append(body) }
            for name in names {
                let url = folder.appending(path: name)
                do {
                    let bytes = Array(try Data(contentsOf: url))
                    let text = String(validating: bytes, as: UTF8.self).map(cleaner.withoutKnown)
                    let cleaned = text.map { Array($0.utf8) } ?? cleaner.replaced(in: bytes) ?? bytes
                    guard cleaned != bytes else { continue }
                    let file = Fixture.isName(name) ? Self.withDigest(cleaned, name) : cleaned
                    try Data(file).write(to: url, options: .atomic)
                } catch {
                    throw FixtureError(writing: name, error)
                }
            }
        }
        _ = state.folder?.refresh()
    }

    /// Returns a cleaned file with the new digest of its body, so that the body does not count as changed by a person.
    private static func withDigest(_ file: [UInt8], _ name: String) -> [UInt8] {
        guard var fixture = try? Fixture(String(decoding: file, as: UTF8.self), name: name) else { return file }
        fixture.digest = fixture.content.bytes.map(Fixture.digest)
        return (try? fixture.text()).map { Array($0.utf8) } ?? file
    }

    private static func discard(_ content: FixtureResponse.Content) {
        // The error is ignored, because the file may have been removed with its recording.
        if case .file(let url, _) = content { try? FileManager.default.removeItem(at: url) }
    }

    private static func isOmitted(_ field: HTTPField, _ request: FixtureRequest) -> Bool {
        if field.name == .contentLength, request.method == .head { return false }
        return omitted.contains(field.name.canonicalName)
    }

    private func match(_ request: FixtureRequest, _ response: FixtureResponse) -> FixtureMatch {
        let target = cleaner.target(request.target)
        var match = FixtureMatch(line: "\(request.method.rawValue) \(target)")
        let varied = response.headerFields[values: .vary].flatMap { $0.split(separator: ",") }.map {
            String($0).trimmed.lowercased()
        }
        for name in Set(varied + ["range"]).subtracting(Self.unmatched).sorted() {
            guard let field = HTTPField.Name(name), let value = request.headerFields[field] else { continue }
            let shown = cleaner.value(value, ofField: name)
            match.header.append(.init(name: name, value: .equal(shown)))
        }
        guard let body = request.body, body.count > 0 else { return match }
        let type = request.headerFields[.contentType]?.lowercased() ?? ""
        if type.hasPrefix("multipart/") { return match }  // its boundary is another one each time
        let form = BodyForm(ofRequest: request.headerFields)
        guard let text = request.text else {
            match.digest = body.sha256
            return match
        }
        let shown = cleaner.body(text, form)
        let value = form == .json ? JSONValue(json: shown.utf8) : nil
        match.body = value.flatMap { $0.object == nil ? nil : .json($0) } ?? .contains(shown)
        return match.storable(shown, digest: shown == text ? body.sha256 : nil)
    }

    /// The written form of a body.
    enum Kept {
        case content(Fixture.Content)
        case bytes([UInt8], ending: String)
        case file(URL, ending: String)
    }

    private func content(_ response: FixtureResponse, _ line: String, _ suspected: inout [SuspectedSecret])
        throws(FixtureError) -> Kept
    {
        let ending = BodyForm.ending(response.headerFields)
        let form = BodyForm(response.headerFields)
        let isCoded = response.headerFields[.contentEncoding] != nil
        let isLong = response.content.count > Self.longestText
        if case .file(let url, _) = response.content, form == .other || isLong, !isCoded {
            guard try !holdsSecret(url) else { throw .secret(request: line, reason: "its body has a secret") }
            return .file(url, ending: ending)
        }
        guard !isLong || !isCoded else { throw Self.coded(response, line) }
        let bytes = try readable(response, line)
        guard !bytes.isEmpty else { return .content(.none) }
        let clean = isLong ? cleaner.replaced(in: bytes) ?? bytes : cleaner.body(bytes, form)
        guard let shown = String(validating: clean, as: UTF8.self), !clean.contains(0), form != .other else {
            // A file whose bytes are no text would be damaged by a replacement.
            guard clean == bytes else { throw .secret(request: line, reason: "its body has a secret") }
            return .bytes(bytes, ending: ending)
        }
        suspected += SuspectedSecret.find(inBody: shown, form)
        guard clean.count <= Fixture.inline else { return .bytes(clean, ending: ending) }
        let isJSON = form == .json && JSONValue(json: clean) != nil && JSONText.compact(clean) == clean
        return .content(isJSON ? .json(clean) : .text(shown))
    }

    /// Returns the body of a response without its content coding. A file with the coded body is removed.
    private func readable(_ response: FixtureResponse, _ line: String) throws(FixtureError) -> [UInt8] {
        let bytes: [UInt8]
        do {
            bytes = try response.bytes()
            if case .file(let url, _) = response.content { try FileManager.default.removeItem(at: url) }
        } catch {
            throw FixtureError(writing: name, error)
        }
        guard let decoded = ContentCoding.decoded(bytes, response.headerFields, atMost: Self.longestText) else {
            throw Self.coded(response, line)
        }
        return decoded
    }

    private static func coded(_ response: FixtureResponse, _ line: String) -> FixtureError {
        let coding = response.headerFields[.contentEncoding] ?? ""
        return .secret(request: line, reason: "secrets cannot be looked for in its body, which is coded (\(coding))")
    }

    /// Whether a file contains a known secret.
    private func holdsSecret(_ url: URL) throws(FixtureError) -> Bool {
        do {
            let file = try FileHandle(forReadingFrom: url)
            defer { try? file.close() }
            var last = Data()
            while let part = try file.read(upToCount: 4 << 20), !part.isEmpty {
                if cleaner.replaced(in: Array(last + part)) != nil { return true }
                last = part.suffix(4_096)
            }
            return false
        } catch {
            throw FixtureError(writing: name, error)
        }
    }
}

extension UpstreamFixtures.State {
    private static let mostSuspected = 50

    fileprivate mutating func note(_ secrets: [SuspectedSecret], in file: String) {
        suspected += secrets.map { ["file": .string(file), "place": .string($0.place), "reason": .string($0.reason)] }
        suspected.removeFirst(max(0, suspected.count - Self.mostSuspected))
    }
}
