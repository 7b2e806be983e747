import Foundation
import TestKit
import Testing

/// Every request of these tests, so that every operation shows every response that it has. It runs once for all tests.
enum Conversation {
    private static let held = Task {
        let transcript = RecordedExchanges()
        try await withLarder { larder in
            let interview = ContractScenario(larder: larder, transcript: transcript)
            try await interview.system()
            try await interview.pages()
            try await interview.nothingFetched()
            try await interview.sessions()
            try await interview.ships()
            try await interview.changes()
            try await interview.uploadsRefused()
            try await interview.documents()
            try await interview.documentsRefused()
            try await interview.problemsOfEveryRequest()
            try await interview.events()
            try await interview.conditional()
            try await interview.upstreamRefuses()
            try await interview.notes()
        }
        try await withLarder { larder in
            let interview = ContractScenario(larder: larder, transcript: transcript)
            try await interview.shopUnseen()
            try await interview.shopSearch()
            try await interview.shopFavourites()
            try await interview.shopList()
            try await interview.shopProfilesAndTags()
        }
        try await withLarder(["--upstreams-catalogue-patience-ms", "60000", "--freshness-shop-s", "0"]) { larder in
            try await ContractScenario(larder: larder, transcript: transcript).shopUpstreamFails()
        }
        try await withLarder(["--upstreams-catalogue-patience-ms", "60000", "--freshness-shop-s", "0"]) { larder in
            try await ContractScenario(larder: larder, transcript: transcript).shopOffline()
        }
        try await withLarder { larder in
            try await ContractScenario(larder: larder, transcript: transcript).documentsAndDisk()
        }
        try await withLarder { larder in
            try await ContractScenario(larder: larder, transcript: transcript).notesUpstreamsRefuse()
        }
        try await withLarder(["--freshness-ships-s", "0", "--upstreams-spacex-patience-ms", "60000"]) { larder in
            try await ContractScenario(larder: larder, transcript: transcript).upstreamFails()
        }
        try await withLarder(["--upstreams-spacex-patience-ms", "1"]) { larder in
            try await ContractScenario(larder: larder, transcript: transcript).upstreamIsSilent()
        }
        try await withLarder { larder in
            try await ContractScenario(larder: larder, transcript: transcript).offlineFromTheStart()
        }
        try await withLarder { larder in try await ContractScenario(larder: larder, transcript: transcript).noShips() }
        try await withLarder { larder in
            let interview = ContractScenario(larder: larder, transcript: transcript)
            try await interview.diskSessions()
            try await interview.disk()
            try await interview.diskChanges()
            try await interview.diskRefusals()
        }
        try await withLarder { larder in
            try await ContractScenario(larder: larder, transcript: transcript).diskOffline()
        }
        try await withLarder(["--disk-outbox-operations", "9"]) { larder in
            try await ContractScenario(larder: larder, transcript: transcript).diskOutbox()
        }
        try await withLarder(["--http-head-timeout-ms", "10"]) { larder in
            try await ContractScenario(larder: larder, transcript: transcript).slowClients()
        }
        try await withLarder(isClosedByBody: true) { larder in
            try await ContractScenario(larder: larder, transcript: transcript).brokenDatabase()
        }
        try await withLarder(withFaults: true) { larder in
            try await ContractScenario(larder: larder, transcript: transcript).fullDisk()
        }
        try await withLarder(["--media-pdf-pages", "3", "--media-pdf-mb", "1", "--media-picture-mb", "1"]) { larder in
            try await ContractScenario(larder: larder, transcript: transcript).documentsTooLarge()
        }
        try await withLarder { larder in
            try await ContractScenario(larder: larder, transcript: transcript).documentsDamaged()
        }
        try await withLarder(isClosedByBody: true) { larder in
            try await ContractScenario(larder: larder, transcript: transcript).brokenDocuments()
        }
        try await withLarder { larder in
            try await ContractScenario(larder: larder, transcript: transcript).devicesUnneeded()
        }
        try await withLarder(["--http-access", "pairing"]) { larder in
            try await ContractScenario(larder: larder, transcript: transcript).devices()
        }
        try await quotas(transcript)
        try await pagesOfEmptyFolder(transcript)
        try await programs(transcript)
        return await transcript.observations
    }

    /// Accounts and profiles that have stored as much as they may.
    private static func quotas(_ transcript: RecordedExchanges) async throws {
        let folder = try TemporaryFolder()
        let (first, second) = (folder.url.appending(path: "first"), folder.url.appending(path: "second"))
        let kept = Watched<ContractScenario.Kept?>(nil)
        try await withLarder(["--data-directory", first.path]) { larder in
            let made = try await ContractScenario(larder: larder, transcript: transcript).stored()
            kept.update { $0 = made }
        }
        // The last owner of the first folder releases its lock.
        try FileManager.default.copyItem(at: first, to: second)
        let none = ["--data-directory", second.path, "--notes-quota-mb", "0", "--pdf-quota-mb", "0"]
        try await withLarder(none) { larder in
            try await ContractScenario(larder: larder, transcript: transcript).quotasUsedUp(try #require(kept.value))
        }
    }

    /// Pages from a folder whose files were removed.
    private static func pagesOfEmptyFolder(_ transcript: RecordedExchanges) async throws {
        let folder = try TemporaryFolder()
        let shell = folder.url.appending(path: "index.html")
        try Data("<!doctype html>".utf8).write(to: shell)
        try await withLarder(["--web-directory", folder.path]) { larder in
            try FileManager.default.removeItem(at: shell)
            try await ContractScenario(larder: larder, transcript: transcript).pagesWithoutFiles()
        }
    }

    /// Documents while the programs that work on them are busy, slow or missing.
    private static func programs(_ transcript: RecordedExchanges) async throws {
        let programs = try HeldPrograms()
        defer { withExtendedLifetime(programs) {} }
        try await withLarder(
            programs.settings(data: "busy") + ["--media-children", "1", "--media-waiting", "1"],
            environment: programs.environment
        ) { larder in
            try await ContractScenario(larder: larder, transcript: transcript).programsAreBusy(programs)
        }
        for other in ["slow", "killed", "bare"] { try programs.copy(data: "busy", to: other) }
        let hasty = [
            "--media-pdf-worker-timeout-s", "1", "--media-pdftoppm-timeout-s", "1", "--media-vips-timeout-s", "1",
        ]
        try await withLarder(programs.settings(data: "slow") + hasty, environment: programs.environment) { larder in
            try await ContractScenario(larder: larder, transcript: transcript).programsAreSlow(programs)
        }
        try await withLarder(programs.settings(data: "killed"), environment: programs.environment) { larder in
            try await ContractScenario(larder: larder, transcript: transcript).programsAreKilled(programs)
        }
        let nowhere = ["--media-pdf-worker", programs.folder.appending(path: "nowhere").path]
        try await withLarder(programs.settings(data: "bare") + nowhere, environment: [:]) { larder in
            try await ContractScenario(larder: larder, transcript: transcript).programsAreMissing()
        }
    }

    /// All responses.
    static func observations() async throws -> [Observation] { try await held.value }
}

/// The text of an event stream, taken apart (HTML Living Standard §9.2.6).
struct ServerSentEvents {
    struct Event: Equatable {
        var id: String?
        var kind: String
        var data: String
    }

    /// Events that are complete.
    private(set) var events: [Event] = []
    /// Identity from which to come back.
    private(set) var lastID: String?

    init(_ text: String) {
        // A block after the last empty line is not complete.
        for block in text.components(dividedBy: "\n\n").dropLast() {
            var kind: String?
            var data: [String] = []
            for line in block.split(separator: "\n") {
                let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
                let value = parts.count > 1 ? String(parts[1].hasPrefix(" ") ? parts[1].dropFirst() : parts[1]) : ""
                switch parts[0] {
                case "id": lastID = value
                case "event": kind = value
                case "data": data.append(value)
                default: break
                }
            }
            if !data.isEmpty {
                events.append(Event(id: lastID, kind: kind ?? "message", data: data.joined(separator: "\n")))
            }
        }
    }
}

extension String {
    fileprivate func components(dividedBy divider: String) -> [Substring] {
        split(separator: divider, omittingEmptySubsequences: false)
    }
}
