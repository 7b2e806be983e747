import Foundation

/// The files of an upstream. A file is read again after it has changed, so an edit applies to the next request.
struct FixtureFolder: Sendable {
    /// The properties by which a change of a file is noticed.
    private struct Stamp: Sendable, Equatable {
        let seconds: Int
        let nanoseconds: Int
        let size: Int
        let file: UInt64

        /// Returns nil for a file without attributes, such as one that has been removed meanwhile.
        init?(of path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            (seconds, nanoseconds) = (Int(status.st_mtim.tv_sec), Int(status.st_mtim.tv_nsec))
            (size, file) = (Int(status.st_size), UInt64(status.st_ino))
        }
    }

    /// The content of a file.
    enum Entry: Sendable {
        case exchange(Fixture)
        case patch(FixturePatch)
        case defect(FixtureDefect)
    }

    /// Largest file that is read, in bytes; a longer body is in a file of its own.
    private static let largestFile = 16 << 20

    let url: URL
    private var read: [String: (stamp: Stamp, entry: Entry)] = [:]

    init(_ url: URL) { self.url = url }

    /// Reads changed files.
    ///
    /// - Returns: The files that were found defective just now.
    mutating func refresh() -> [FixtureDefect] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []
        let kept = Set(names.filter { Fixture.isName($0) || FixturePatch.isName($0) })
        read = read.filter { kept.contains($0.key) }
        var defects: [FixtureDefect] = []
        for name in kept {
            let path = url.appending(path: name).path
            // A file that has been removed meanwhile is skipped.
            guard let stamp = Stamp(of: path), read[name]?.stamp != stamp else { continue }
            let entry = Self.entry(path, name: name)
            if case .defect(let defect) = entry { defects.append(defect) }
            read[name] = (stamp, entry)
        }
        return defects
    }

    private static func entry(_ path: String, name: String) -> Entry {
        do throws(YAMLDefect) {
            let text = try text(path)
            return Fixture.isName(name)
                ? .exchange(try Fixture(text, name: name)) : .patch(try FixturePatch(text, name: name))
        } catch {
            return .defect(FixtureDefect(file: name, defect: error))
        }
    }

    private static func text(_ path: String) throws(YAMLDefect) -> String {
        do throws(GivenFile.Defect) {
            return try GivenFile.text(path, atMost: largestFile, pipes: false)
        } catch {
            let reason =
                switch error {
                case .notText: "it is no text in UTF-8"
                case .tooLong(let limit): "it has more than \(limit) bytes; a long body has a file of its own"
                case .missing, .forbidden, .notRead: "it cannot be read"
                }
            throw YAMLDefect(line: nil, reason: reason)
        }
    }

    /// In the order of their numbers.
    var exchanges: [Fixture] {
        read.values.compactMap { if case .exchange(let fixture) = $0.entry { fixture } else { nil } }
            .sorted { ($0.number, $0.name) < ($1.number, $1.name) }
    }

    /// In the order of their names.
    var patches: [FixturePatch] {
        read.values.compactMap { if case .patch(let patch) = $0.entry { patch } else { nil } }
            .sorted { $0.name < $1.name }
    }

    /// In the order of their names.
    var defects: [FixtureDefect] {
        read.values.compactMap { if case .defect(let defect) = $0.entry { defect } else { nil } }
            .sorted { $0.file < $1.file }
    }

    /// The highest number that a file has.
    var lastNumber: Int { read.keys.map(Fixture.number).max() ?? 0 }

    /// The highest number of a placeholder that a file has.
    var lastSecret: Int {
        exchanges.flatMap { fixture in
            ((try? fixture.text()) ?? "").matches(of: /larder-secret-([0-9]+)/).compactMap { Int($0.output.1) }
        }.max() ?? 0
    }
}

/// The files of all upstreams of a server.
package struct FixtureLibrary: Sendable {
    /// In the order of their names.
    package let upstreams: [UpstreamFixtures]

    package init(_ upstreams: [UpstreamFixtures]) { self.upstreams = upstreams.sorted { $0.name < $1.name } }

    /// Those of an upstream; nil if it has none.
    package subscript(_ name: String) -> UpstreamFixtures? { upstreams.first { $0.name == name } }
}

/// How requests of the server to an upstream are treated.
package enum FixtureMode: String, Sendable, CaseIterable {
    /// They are sent to the upstream.
    case live
    /// They are sent, and each exchange is written into a file.
    case record
    /// They are responded to from files only; nothing is sent.
    case replay
    /// They are responded to from files; a request without one is sent and recorded.
    case spy
    /// They are sent, and their responses are changed by the patches of the folder.
    case modify
    /// They are sent, and their responses are compared with the files.
    case diff

    /// Whether requests to the upstream ask for a response that can be recorded: complete and not compressed.
    package var asksPlainly: Bool { self == .record || self == .spy || self == .modify || self == .diff }
}
