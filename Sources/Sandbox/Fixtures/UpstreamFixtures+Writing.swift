import Foundation
import HTTPTypes
import JSONValues

// Files of exchanges.
extension UpstreamFixtures {
    /// Writes a file in place of the files that earlier recordings have of the same requests. Those are removed after
    /// the new file is written, and are kept if it cannot be written.
    ///
    /// - Returns: The name of the file; nil if an equal response has one.
    static func write(
        _ match: FixtureMatch,
        _ response: FixtureResponse,
        _ header: [Fixture.Field],
        _ kept: Kept,
        _ state: inout State,
        upstream: String,
        on day: String,
        _ secrets: Secrets
    ) throws(FixtureError) -> String? {
        guard let folder = state.folder else { throw .noFolder(upstream: upstream) }
        let before = folder.exchanges
        let own = before.filter { $0.match == match && state.written.contains($0.name) }
        let stale = before.filter { !state.written.contains($0.name) && $0.match.isAlike(match) }
        let replaces = state.mode == .record && own.isEmpty
        var fixture = Fixture(
            // Another recording of the request has the same name, whatever its secrets are.
            name: Fixture.name(
                (replaces ? stale.first?.number : nil) ?? folder.lastNumber + 1,
                FixtureMatch.anonymous(match.line)
            ),
            match: match,
            status: response.status.code,
            header: header,
            content: .none,
            mode: state.mode,
            day: day
        )
        do {
            try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
            if case .content(let content) = kept {
                fixture.content = content
                fixture.digest = content.bytes.map(Fixture.digest)
                if let last = own.last, fixture.hasSameResponse(as: last) { return nil }
                if replaces, stale.count == 1, secrets.adopt(try stale[0].text(), try fixture.text()) {
                    try renew(stale[0], in: folder.url, &state, on: day)
                    return nil
                }
            }
            try fixture.write(kept, in: folder.url)
            if replaces { for old in stale { try old.remove(from: folder.url, after: fixture) } }
        } catch let defect as YAMLDefect {
            throw .notReadable(file: fixture.name, reason: defect.description)
        } catch {
            throw FixtureError(writing: fixture.name, error)
        }
        state.written.insert(fixture.name)
        state.uses[fixture.name] = 1
        _ = state.folder?.refresh()
        return fixture.name
    }

    /// Counts a file of an earlier run with the same response as a recording of this run.
    private static func renew(_ fixture: Fixture, in folder: URL, _ state: inout State, on day: String) throws {
        var renewed = fixture
        renewed.day = day
        if renewed != fixture { try renewed.write(in: folder) }
        state.written.insert(fixture.name)
        state.uses[fixture.name] = 1
    }
}

extension Fixture {
    /// - Throws: ``YAMLDefect`` if the text could not be read again; file errors.
    fileprivate mutating func write(_ kept: UpstreamFixtures.Kept, in folder: URL) throws {
        switch kept {
        case .content(let content):
            self.content = content
            // A text that YAML cannot represent, such as one with certain line breaks, is written to a file of its own.
            switch (content, try readBack().content) {
            case (.json(let bytes), .json(let read)) where read == bytes: break
            case (.json(let bytes), _): return try write(.bytes(bytes, ending: "json"), in: folder)
            case (.text(let text), .text(let read)) where text == read && text.utf8.elementsEqual(read.utf8): break
            case (.text(let text), _): return try write(.bytes(Array(text.utf8), ending: "txt"), in: folder)
            default: break
            }
        case .bytes(let bytes, let ending):
            let place = try placeOfBody(in: folder, ending: ending)
            return try write(besides: place) { try Data(bytes).write(to: place, options: .atomic) }
        case .file(let url, let ending):
            let place = try placeOfBody(in: folder, ending: ending)
            return try write(besides: place) { try FileManager.default.moveItem(at: url, to: place) }
        }
        try write(in: folder)
    }

    fileprivate func write(in folder: URL) throws {
        try Data(try text().utf8).write(to: folder.appending(path: name), options: .atomic)
    }

    /// Chooses a new file for the body, since a file of an earlier recording may have the same name.
    private mutating func placeOfBody(in folder: URL, ending: String) throws -> URL {
        var (name, count) = (bodyName(ending: ending), 1)
        while FileManager.default.fileExists(atPath: folder.appending(path: name).path) {
            count += 1
            name = bodyName(ending: ending, count)
        }
        (content, digest) = (.file(name), nil)
        _ = try readBack()
        return folder.appending(path: name)
    }

    /// Writes the body, then the file that names it. If either fails, the body is removed.
    private func write(besides body: URL, _ writeBody: () throws -> Void) throws {
        do {
            try writeBody()
            try write(in: body.deletingLastPathComponent())
        } catch {
            try? FileManager.default.removeItem(at: body)
            throw error
        }
    }

    /// Parses the fixture from its own text and returns the result.
    /// - Throws: ``YAMLDefect`` if it differs, since it could not be replayed; the errors of Yams.
    private func readBack() throws -> Fixture {
        let read = try Fixture(try text(), name: name)
        let isSame = read.match == match && read.status == status
        let fields = { (fixture: Fixture) in fixture.header.sorted { ($0.name, $0.value) < ($1.name, $1.value) } }
        guard isSame, fields(read) == fields(self) else {
            throw YAMLDefect(line: nil, reason: "YAML does not give it back as it is")
        }
        return read
    }

    /// Removes the file and the file of its body, except those that the later fixture uses.
    fileprivate func remove(from folder: URL, after later: Fixture) throws {
        if name != later.name { try FileManager.default.removeItem(at: folder.appending(path: name)) }
        if case .file(let body) = content, content != later.content {
            try? FileManager.default.removeItem(at: folder.appending(path: body))
        }
    }
}

extension Fixture.Content {
    /// The bytes that the file itself contains; nil if the body is in a file of its own.
    var bytes: [UInt8]? {
        switch self {
        case .none: []
        case .json(let bytes): bytes
        case .text(let text): Array(text.utf8)
        case .file: nil
        }
    }
}

extension FixtureMatch {
    /// Returns the match with a body that can be read back from a file. JSON in which a name occurs twice is compared
    /// as text. A text with line breaks that YAML changes is compared by its digest, or not at all if it has secrets.
    ///
    /// - Parameters:
    ///   - text: The body without secrets.
    ///   - digest: The digest of the body; nil if it has secrets.
    func storable(_ text: String, digest: String?) -> FixtureMatch {
        for body in [body, .contains(text)] {
            let match = FixtureMatch(line: line, header: header, body: body)
            let fixture = Fixture(name: "", match: match, status: 200, header: [], content: .none)
            if (try? Fixture(try fixture.text(), name: ""))?.match == match { return match }
        }
        return FixtureMatch(line: line, header: header, digest: digest)
    }

    /// Whether another match is for the same requests, apart from their secrets.
    fileprivate func isAlike(_ other: FixtureMatch) -> Bool { anonymous == other.anonymous }

    private var anonymous: FixtureMatch {
        var body = self.body
        switch body {
        case .contains(let text): body = .contains(Self.anonymous(text))
        case .json(let value): body = .json(value.mapStrings(Self.anonymous))
        case nil: break
        }
        return FixtureMatch(line: Self.anonymous(line), header: header, body: body, digest: digest)
    }
}
