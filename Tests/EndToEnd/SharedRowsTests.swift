import Foundation
import TestKit
import Testing

/// Three processes with one PostgreSQL, on which random changes are made, three at a time.
@Suite(.timeLimit(.minutes(10))) struct SharedRowsTests {
    private static let rounds = 40
    /// Screens whose rows people made. Of ships and the values of filters, an upstream determines `meta`.
    private static let screens = [
        "/v1/notes?limit=100", "/v1/notes/trash?limit=100", "/v1/notes?q=%C3%A4", "/v1/notes/map?bbox=-180,-80,180,80",
        "/v1/pdf/documents?limit=100", "/v1/pdf/trash?limit=100", "/v1/shop/list", "/v1/shop/filters",
        "/v1/shop/favourites", "/v1/ships?limit=100",
    ]

    /// The processes, and a token for each app that has accounts.
    private struct Cluster: Sendable {
        let processes: [RunningLarder]
        let tokens: [String: String]

        func client(_ number: Int, _ path: String) -> Client {
            var client = processes[number].client
            client.token = tokens[String(path.split { "/?".contains($0) }[1])]
            return client
        }
    }

    /// A request: at which process, its method, path and body.
    private struct Change: Sendable {
        let process: Int
        let method: String
        let path: String
        let body: String?
    }

    private static func cluster() async throws -> Cluster {
        let servers = try await SharedServers("notes,pdf,shop,ships")
        var processes: [RunningLarder] = []
        for _ in 0..<3 {
            let settings = ["--store-kept-ms", "0", "--freshness-ships-s", "3600", "--freshness-shop-s", "3600"]
            processes.append(try await servers.start(settings))
        }
        let (notes, ships) = (try await processes[0].client.writer("ann"), try await processes[1].guest())
        let tokens = try ["notes": #require(notes.token), "ships": #require(ships.token)]
        let cluster = Cluster(processes: processes, tokens: tokens)
        // Later each process has the lists of its upstreams, and no read changes rows.
        for path in ["/v1/ships", "/v1/shop/filters"] {
            for process in 0..<3 { _ = try await cluster.client(process, path).get(path) }
        }
        return cluster
    }

    /// Chooses a change of one of the things that a process lists, or of a new one.
    private static func change(in cluster: Cluster, _ random: inout SeededRandom) async throws -> Change {
        let (process, other) = (Int.random(in: 0..<3, using: &random), Int.random(in: 0..<3, using: &random))
        let list =
            [
                "/v1/notes", "/v1/notes/trash", "/v1/pdf/documents", "/v1/pdf/trash", "/v1/shop/list",
                "/v1/shop/favourites", "/v1/ships",
            ].randomElement(using: &random) ?? "/v1/notes"
        let items = try await cluster.client(other, list).get(list).json.data.items.elements
        let id = items.randomElement(using: &random)?.id.string
        let number = Int.random(in: 0..<1000, using: &random)
        let name = ["ä \(number)", "Straße", "🐘 заметка"].randomElement(using: &random) ?? ""
        let place = #"{"lat":\#(number % 80),"lon":\#(number % 170),"name":"\#(name)"}"#
        func made(_ method: String, _ path: String, _ body: String? = nil) -> Change {
            Change(process: process, method: method, path: path, body: body)
        }
        guard let id, Bool.random(using: &random) else {
            switch list {
            case "/v1/shop/list": return made("POST", "/v1/shop/list/items", #"{"product_id":\#(number % 9 + 1)}"#)
            case "/v1/shop/favourites": return made("POST", list, #"{"product_id":\#(number % 9 + 1)}"#)
            case "/v1/pdf/trash": return made("PUT", "/v1/shop/filters", #"{"price_min":\#(number)}"#)
            case "/v1/ships": return made("POST", "/v1/ships/restore", "{}")
            default: return made("POST", "/v1/notes", #"{"body":"\#(name)","location":\#(place)}"#)
            }
        }
        switch list {
        case "/v1/notes":
            return number.isMultiple(of: 2)
                ? made("DELETE", "\(list)/\(id)")
                : made("PATCH", "\(list)/\(id)", #"{"body":"\#(name) anew","location":null}"#)
        case "/v1/pdf/documents":
            return number.isMultiple(of: 2)
                ? made("DELETE", "\(list)/\(id)")
                : made("PATCH", "\(list)/\(id)", #"{"name":"\#(name)"}"#)
        case "/v1/shop/list":
            let by = number.isMultiple(of: 3) ? -1 : 1
            return number.isMultiple(of: 5)
                ? made("DELETE", "\(list)/items/\(id)")
                : made("PATCH", "\(list)/items/\(id)", #"{"by":\#(by)}"#)
        case "/v1/ships", "/v1/shop/favourites": return made("DELETE", "\(list)/\(id)")
        default:
            return number.isMultiple(of: 4)
                ? made("DELETE", "\(list)/\(id)") : made("POST", "\(list)/\(id)/restore", "{}")
        }
    }

    /// Returns the part of a screen that is the same on all processes.
    private static func shown(_ path: String, _ cluster: Cluster, _ process: Int) async throws -> String {
        let response = try await cluster.client(process, path).get(path)
        #expect(response.status == 200, "\(path): \(response.text)")
        guard path.hasPrefix("/v1/ships") || path == "/v1/shop/filters" else { return response.text }
        let end = try #require(response.text.range(of: #""meta":{"#))
        return String(response.text[..<end.lowerBound])
    }

    @Test("SCALE-29 After random changes, three at a time, screens are byte-equal on three servers", arguments: [1, 2])
    func random(seed: UInt64) async throws {
        let cluster = try await Self.cluster()
        for number in 0..<3 {
            let client = cluster.processes[number].client
            for _ in 0..<2 {
                let href = try await client.document(of: [DocumentTests.photo])
                #expect(try await client.post("\(href)/save", #"{"name":"\#(number)"}"#).status == 200)
            }
        }
        var random = SeededRandom(seed: seed)
        var statuses: [Int: Int] = [:]
        for round in 0..<Self.rounds {
            var changes: [Change] = []
            for _ in 0..<3 { changes.append(try await Self.change(in: cluster, &random)) }
            try await withThrowingTaskGroup(of: (Change, ReceivedResponse).self) { group in
                for change in changes {
                    group.addTask {
                        let client = cluster.client(change.process, change.path)
                        return (change, try await client.send(change.method, change.path, [:], body: change.body))
                    }
                }
                for try await (change, response) in group {
                    // Another of the three may have deleted the same thing; one less than one is refused.
                    let refused = change.body == #"{"by":-1}"# ? [404, 409, 422] : [404, 409]
                    #expect(([200, 201] + refused).contains(response.status), "\(round) \(change): \(response.text)")
                    statuses[response.status, default: 0] += 1
                }
            }
            guard round % 10 == 9 else { continue }
            for path in Self.screens {
                let first = try await Self.shown(path, cluster, 0)
                for process in 1..<3 {
                    let other = try await Self.shown(path, cluster, process)
                    #expect(other == first, "seed \(seed), round \(round), \(path)")
                }
            }
        }
        #expect(statuses[200, default: 0] + statuses[201, default: 0] > Self.rounds, "\(statuses)")
        for larder in cluster.processes { #expect(await larder.stop() == 0) }
    }
}
