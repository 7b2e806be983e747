import Foundation
import TestKit
import Testing

/// A front end that knows nothing but the JSON succeeds with every enabled action.
@Suite("Actions that are enabled")
struct PressedActionTests {
    /// An action of a screen.
    private struct Found {
        let key: String
        let action: JSON
        let fields: [String: String]

        var id: String { action.id.string ?? "" }
        /// Actions that remove something are pressed after the others, and those that end a session last.
        var turn: Int {
            if id == "logout" || action.href.string?.hasPrefix("/v1/notes/account/deletion") == true { return 2 }
            return action.method.string == "DELETE" || ["discard", "rename", "move"].contains(id) ? 1 : 0
        }
    }

    /// The state of upstreams and of stored data while the actions are pressed.
    enum Situation: CaseIterable {
        case online
        /// The upstreams are away; copies are fresh.
        case offline
        /// The same, and copies are older than their freshness time.
        case outOfDate
        /// The upstreams are away, and nothing more can be left in the outbox.
        case outboxFull
        /// A write that waited was refused for good, and another one is in conflict.
        case refused
        /// The same, and the Disk is away.
        case refusedOffline
        /// The Disk does not accept the token of the account any more.
        case tokenRevoked
        /// Account and profile have stored as much as they may.
        case quotasUsedUp
        /// The upstreams respond with 503, and copies are older than their freshness time.
        case failing
        /// The same with responses that cannot be read.
        case garbled
        /// The Disk is away, and a write of each kind waits.
        case queued
        /// Writes that waited are in conflict with those of another client.
        case conflict

        var settings: [String] {
            // On a busy machine an upstream that is well takes its time: then it is not away, and no write is in doubt.
            let times = ["connect-timeout", "total-timeout", "patience"]
            let upstreams = ["spacex", "catalogue", "people", "geocoder", "yandex-disk", "yandex-oauth"]
            return ofStore + upstreams.flatMap { name in times.flatMap { ["--upstreams-\(name)-\($0)-ms", "60000"] } }
        }

        private var ofStore: [String] {
            switch self {
            case .online, .offline, .refused, .refusedOffline, .tokenRevoked, .queued, .conflict: []
            case .outOfDate, .failing, .garbled:
                ["ships", "disk", "shop", "categories"].flatMap { ["--freshness-\($0)-s", "0"] }
            // The one that waits already.
            case .outboxFull: ["--disk-outbox-operations", "1"]
            case .quotasUsedUp: ["--notes-quota-mb", "1", "--pdf-quota-mb", "1"]
            }
        }
        /// The fault of all upstreams; nil if they are well.
        var fault: String? {
            switch self {
            case .offline, .outOfDate, .outboxFull, .refusedOffline, .queued: "offline"
            case .failing: "error(503)"
            case .garbled: "garbage"
            case .online, .refused, .tokenRevoked, .quotasUsedUp, .conflict: nil
            }
        }
        /// Whether the outbox tries to send meanwhile, so that its writes change their states at any time.
        var isSending: Bool { self == .failing || self == .garbled }
    }

    /// Actions that are disabled because they would change nothing; the request is accepted all the same.
    private static let idle: Set = ["reorder", "restore", "keep_offline", "save", "empty"]

    /// Presses every action of every screen once, and those of files once in each state of a file.
    private final class Finger {
        let larder: InProcessLarder
        private let reads: [StoredReads.Read]
        /// Whether texts of notes are sent unchanged: the quota has no room for a longer one.
        private let keepsTexts: Bool
        /// Whether each action is pressed twice with one `Idempotency-Key`.
        private let isImpatient: Bool
        /// How many responses were repeated.
        private(set) var repeated = 0
        private let idle: Set<String>
        private var pressed: Set<String> = []
        private var disabled: Set<String> = []
        private(set) var failures: [String] = []

        init(
            _ larder: InProcessLarder,
            _ reads: [StoredReads.Read],
            _ situation: Situation,
            isImpatient: Bool = false
        ) {
            self.larder = larder
            self.reads = reads
            self.isImpatient = isImpatient
            keepsTexts = situation == .quotasUsedUp
            // The other file of a conflict can be downloaded.
            idle = PressedActionTests.idle.union(situation == .conflict ? ["download"] : [])
        }

        var count: Int { pressed.count }

        func pressAll() async throws {
            for turn in 0...2 {
                for read in reads {
                    while let found = try await next(of: read, turn: turn) { try await press(found) }
                }
            }
        }

        /// Returns the next action of the current screen.
        private func next(of read: StoredReads.Read, turn: Int) async throws -> Found? {
            let response = try await larder.send("GET", read.target, read.headers)
            guard response.status == 200, response["Content-Type"]?.hasPrefix("application/json") == true,
                let data = try response.json["data"]
            else { return nil }
            // Nobody knows a password that the server would take.
            for (action, state) in actions(in: data)
            where action.href.string?.hasSuffix("/session") != true || action.fields.isNull {
                let key = "\(read.operation) \(action.id.string ?? "") \(state)"
                let reason = action.disabled_reason
                let found = Found(key: key, action: action, fields: read.headers)
                guard action.enabled.bool != true else {
                    if !reason.isNull { failures.append("\(key) is enabled, and says why not") }
                    if found.turn == turn, pressed.insert(key).inserted { return found }
                    continue
                }
                if reason.string?.isEmpty != false { failures.append("\(key) is disabled, and does not say why") }
                guard !idle.contains(found.id), disabled.insert(key).inserted else { continue }
                let (request, response) = try await send(found)
                if response.status < 400 { failures.append("\(key) is disabled, and succeeds: \(request)") }
            }
            return nil
        }

        /// Returns the actions in a value, each with the state of the file that it is of.
        private func actions(in value: JSON, of state: String = "") -> [(action: JSON, state: String)] {
            if let items = value.array { return items.flatMap { actions(in: $0, of: state) } }
            guard let object = value.object else { return [] }
            let isAction = ["id", "title", "method", "href", "enabled"].allSatisfy { object[$0] != nil }
            let own = object["path"] == nil ? nil : self.state(of: value)
            return (isAction ? [(value, state)] : [])
                + object.sorted { $0.key < $1.key }.flatMap { actions(in: $0.value, of: own ?? state) }
        }

        private func state(of file: JSON) -> String {
            let values = ["type", "viewer", "kind", "state"].map { file[$0]?.string ?? "" }
            let flags = ["published", "kept_offline"].filter { file[$0]?.bool == true }
            return (values + flags + [file.pending.kind.string ?? "", file.pending.state.string ?? ""])
                .filter { !$0.isEmpty }.joined(separator: " ")
        }

        private func press(_ found: Found) async throws {
            let (request, response) = try await send(found)
            guard !(200..<400).contains(response.status) else { return }
            failures.append("\(found.key): \(request)\n  \(response.status) \(response.text.prefix(300))")
        }

        /// Sends the request of an action, and returns it with its response.
        private func send(_ found: Found) async throws -> (request: String, ReceivedResponse) {
            let action = found.action
            let (method, href) = (action.method.string ?? "", action.href.string ?? "")
            var fields = found.fields
            for (name, value) in action.headers.object ?? [:] { fields[name] = value.string }
            var body: String?
            if action.fields.elements.contains(where: { $0.kind.string == "files" }) {
                body = href.hasPrefix("/v1/notes") ? Self.formBody(of: "<gpx/>") : Self.form
                fields["Content-Type"] = "multipart/form-data; boundary=pressed"
            } else if action["body"] != nil || action["fields"] != nil {
                var members = action.body.object ?? [:]
                for field in action.fields.elements {
                    guard let value = try await value(of: field, href) else { continue }
                    members[field.name.string ?? ""] = value
                }
                (body, fields["Content-Type"]) = (PressedActionTests.text(.object(members)), "application/json")
            }
            let request = "\(method) \(href) \(body?.prefix(200) ?? "")"
            let isKeyed = isImpatient && method != "GET" && found.turn < 2 && !href.contains("/session")
            if isKeyed { fields["Idempotency-Key"] = "\(found.key) \(UUID().uuidString)".debugDescription }
            let response = try await larder.send(method, href, fields, body: body)
            if isKeyed, response.status < 300 {
                let again = try await larder.send(method, href, fields, body: body)
                if again.status != response.status || again.body != response.body
                    || again["Idempotency-Replayed"] != "true"
                {
                    failures.append("\(found.key): \(request)\n  again \(again.status) \(again.text.prefix(300))")
                }
                repeated += 1
            }
            return (request, response)
        }

        /// Returns a value for a field as a user would enter it; nil to leave it out.
        private func value(of field: JSON, _ href: String) async throws -> JSON? {
            let (kind, given) = (field.kind.string ?? "", field.value.string)
            if let values = field.values.array { return .array(values) }
            guard field.required.bool == true || given != nil && kind != "location" else { return nil }
            switch kind {
            case "integer", "number": return .number(given.flatMap(Double.init) ?? 1)
            case "boolean": return .bool(given == "true")
            case "password": return .string("secret")
            case "text" where keepsTexts && href.hasPrefix("/v1/notes/"): return .string(given ?? "")
            case "text":
                // A user appends a name to a folder, and puts text in front of a file name, so its extension stays.
                let folder = given?.lastIndex(of: "/").map { given?[...$0] ?? "" } ?? ""
                let name = given?.dropFirst(folder.count) ?? ""
                return .string("\(folder)\(pressed.count)\(name.isEmpty && !folder.isEmpty ? "" : "-")\(name)")
            case "document":
                let list = try await larder.send("GET", "/v1/pdf/documents", [:])
                return try list.json.at(pointer: "/data/items/\(field.name.string == "first" ? 0 : 1)/id")
            case "pages":
                let document = href.replacing("/extract", with: "").replacing("/pages/delete", with: "")
                let pages = try await larder.send("GET", document, [:]).json.data.pages.elements
                return .array(pages.prefix(1).map { $0.id })
            default: return nil
            }
        }

        static let form = formBody(of: MadeFile.tiff)

        private static func formBody(of file: String) -> String {
            """
            --pressed\r
            Content-Disposition: form-data; name="files"; filename="one"\r
            \r
            \(file)\r
            --pressed--\r

            """
        }
    }

    @Test(
        "ONE-04 every enabled action of every screen succeeds when it is pressed as the JSON says; others say why not",
        arguments: Situation.allCases
    )
    func pressed(situation: Situation) async throws {
        try await withLarder(situation.settings) { larder in
            var reads = try await StoredReads(larder).all().filter { $0.operation.hasPrefix("GET /v1/") }
            if situation.isSending { reads.removeAll { $0.operation.contains("/outbox") } }
            let files = Files(larder, reads.first { $0.operation == "GET /v1/disk/files" }?.headers ?? [:])
            try await files.make()
            try await Self.prepare(situation, larder, reads, files)
            reads += try await files.reads()
            let finger = Finger(larder, reads, situation)
            try await finger.pressAll()
            #expect(finger.count > 40)
            #expect(finger.failures.isEmpty, "\(finger.failures.joined(separator: "\n"))")
        }
    }

    @Test("ONE-09 Each action of each screen that is pressed twice with its key gets the first response, byte for byte")
    func pressedTwice() async throws {
        try await withLarder(Situation.online.settings) { larder in
            let reads = try await StoredReads(larder).all().filter { $0.operation.hasPrefix("GET /v1/") }
            let finger = Finger(larder, reads, .online, isImpatient: true)
            try await finger.pressAll()
            #expect(finger.repeated > 30)
            #expect(finger.failures.isEmpty, "\(finger.failures.joined(separator: "\n"))")
        }
    }

    private static func prepare(
        _ situation: Situation,
        _ larder: InProcessLarder,
        _ reads: [StoredReads.Read],
        _ files: Files
    ) async throws {
        let headers = files.headers
        if situation == .refused || situation == .refusedOffline { try await refuse(larder, headers) }
        if situation == .queued { try await files.leave() }
        if situation == .conflict { try await files.dispute() }
        if situation == .tokenRevoked {
            try await larder.control("POST", "/yandex_oauth/revoke", #"{"account":"anna"}"#)
            #expect(try await larder.send("GET", "/v1/disk/files?refresh=1", headers).status == 401)
        }
        if situation == .quotasUsedUp {
            try await fillNotes(larder, reads.first { $0.operation == "GET /v1/notes" }?.headers ?? [:])
            try await fillDocuments(larder)
        }
        guard let fault = situation.fault else { return }
        for upstream in ["spacex", "catalogue", "people", "yandex_disk"] {
            try await larder.fault(fault, of: upstream)
        }
        for list in ["/v1/ships", "/v1/shop/search", "/v1/disk/files"] {
            let headers = reads.first { $0.operation == "GET \(list)" }?.headers ?? [:]
            _ = try await larder.send("GET", "\(list)?refresh=1", headers)
        }
    }

    /// Stores notes until the shortest one has no room.
    private static func fillNotes(_ larder: InProcessLarder, _ headers: [String: String]) async throws {
        for length in [50_000, 5_000, 0] {
            let body = #"{"body":"\#(String(repeating: "a", count: length))"}"#
            while try await larder.send("POST", "/v1/notes", headers, body: body).status == 201 {}
        }
    }

    /// Stores documents until the smallest one has no room: larger and larger ones, then copies of those that fit.
    private static func fillDocuments(_ larder: InProcessLarder) async throws {
        let list = "/v1/pdf/documents"
        func documents() async throws -> [JSON] {
            try await larder.send("GET", "\(list)?limit=100", [:]).json.data.items.elements
        }
        var hasRoom = true
        while hasRoom {
            let newest = try await documents().prefix(2).compactMap(\.id.string)
            let body = #"{"first":"\#(newest[0])","second":"\#(newest[1])","name":"Full"}"#
            hasRoom = try await larder.send("POST", "/v1/pdf/merge", [:], body: body).status == 201
        }
        for document in try await documents() {
            let href = "\(list)/\(document.id.string ?? "")"
            let pages = try await larder.send("GET", href, [:]).json.data.pages.elements.compactMap(\.id.string)
            let body = #"{"pages":["\#(pages.joined(separator: "\",\""))"],"name":"Full"}"#
            while try await larder.send("POST", "\(href)/extract", [:], body: body).status == 201 {}
        }
        let form = ["Content-Type": "multipart/form-data; boundary=pressed"]
        let pages = "\(list)/\(try await documents()[0].id.string ?? "")/pages"
        while try await larder.send("POST", pages, form, body: Finger.form).status < 300 {}
    }

    /// Leaves a write that the Disk refuses for good, and waits until it has.
    private static func refuse(_ larder: InProcessLarder, _ headers: [String: String]) async throws {
        try await larder.fault("offline", of: "yandex_disk")
        _ = try await larder.send("GET", "/v1/disk/files?refresh=1", headers)
        let fields = headers.merging(["Prefer": "respond-async"]) { own, _ in own }
        let left = try await larder.send("POST", "/v1/disk/links", fields, body: #"{"path":"/contract/4.txt"}"#)
        #expect(left.status == 202, "\(left.text)")
        let failure = #"{"call":"PUT /resources/publish","error":"DiskUnsupportedUserAccountTypeError"}"#
        try await larder.control("POST", "/yandex_disk/failures", failure)
        try await larder.fault("online", of: "yandex_disk")
        _ = try await larder.send("GET", "/v1/disk/files?refresh=1", headers)
        try await BoundedWait.poll(for: "the write to be refused") {
            try await larder.send("GET", "/v1/disk/outbox", headers).text.contains(#""state":"failed""#)
        }
    }
}

extension PressedActionTests {
    /// Returns a value as the body of a request.
    static func text(_ json: JSON) -> String {
        switch json {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .number(let value): value == value.rounded() ? "\(Int(value))" : "\(value)"
        case .string(let value):
            "\"" + value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
                + "\""
        case .array(let items): "[" + items.map(text).joined(separator: ",") + "]"
        case .object(let members):
            "{"
                + members.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\(text($0.value))" }.joined(separator: ",")
                + "}"
        }
    }

    /// Files of the Disk in each state, three of each: some actions leave no file at its path.
    fileprivate struct Files {
        let larder: InProcessLarder
        let headers: [String: String]

        init(_ larder: InProcessLarder, _ headers: [String: String]) { (self.larder, self.headers) = (larder, headers) }

        private static let list = "/v1/disk/files?path=/contract&limit=100"

        private static func paths(_ name: String) -> [String] { (1...3).map { "disk:/contract/\(name)\($0).txt" } }

        private func put(_ name: String, _ text: String) async throws {
            for path in Self.paths(name) {
                try await larder.control("PUT", "/yandex_disk/files", #"{"path":"\#(path)","text":"\#(text)"}"#)
            }
        }

        /// Makes the files, and lets the screens show them.
        func make() async throws {
            for name in ["plain", "kept", "renamed", "moved", "shared"] { try await put(name, "text") }
            for path in Self.paths("kept") { _ = try await send("PUT", "/v1/disk/offline", #"{"path":"\#(path)"}"#) }
            #expect(try await send("GET", "\(Self.list)&refresh=1").status == 200)
        }

        /// Returns the reads of their screens.
        func reads() async throws -> [StoredReads.Read] {
            let response = try await send("GET", Self.list)
            guard response.status == 200 else { return [] }
            return try response.json.data.items.elements.compactMap(\.path.string).map {
                let path = $0.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
                return .init(operation: "GET /v1/disk/file", target: "/v1/disk/file?path=\(path)", headers: headers)
            }
        }

        /// Leaves writes of each kind, with the Disk away.
        func leave() async throws {
            try await larder.fault("offline", of: "yandex_disk")
            _ = try await send("GET", "\(Self.list)&refresh=1")
            for path in Self.paths("new") {
                try await left("POST", "/v1/disk/folders", #"{"path":"\#(path) folder"}"#)
                try await left("PUT", "/v1/disk/file/content?path=\(path)", "ours")
            }
            // The write of the first folder cannot be taken back.
            try await left("PUT", "/v1/disk/file/content?path=\(Self.paths("new")[0])%20folder/inner.txt", "ours")
            try await rename()
            for path in Self.paths("moved") {
                try await left("POST", "/v1/disk/files/move", #"{"from":"\#(path)","to":"\#(path) moved.txt"}"#)
            }
            for path in Self.paths("shared") { try await left("POST", "/v1/disk/links", #"{"path":"\#(path)"}"#) }
        }

        private func rename() async throws {
            for (number, path) in Self.paths("renamed").enumerated() {
                try await left("PATCH", "/v1/disk/file?path=\(path)", #"{"name":"other\#(number + 1).txt"}"#)
            }
        }

        /// Leaves writes that another client anticipates, and waits for their conflicts.
        func dispute() async throws {
            try await larder.fault("offline", of: "yandex_disk")
            _ = try await send("GET", "\(Self.list)&refresh=1")
            for path in Self.paths("new") { try await left("PUT", "/v1/disk/file/content?path=\(path)", "ours") }
            // The write of the first file cannot be dropped.
            try await left("POST", "/v1/disk/links", #"{"path":"\#(Self.paths("new")[0])"}"#)
            try await rename()
            for name in ["new", "other"] { try await put(name, "theirs") }
            try await larder.fault("online", of: "yandex_disk")
            _ = try await send("GET", "\(Self.list)&refresh=1")
            try await BoundedWait.poll(for: "the conflicts") {
                try await send("GET", "/v1/disk/outbox").text.split(separator: #""state":"conflict""#).count > 6
            }
        }

        private func left(_ method: String, _ target: String, _ body: String) async throws {
            let response = try await send(method, target, body)
            #expect(response.status == 202, "\(method) \(target): \(response.text)")
        }

        private func send(_ method: String, _ target: String, _ body: String? = nil) async throws -> ReceivedResponse {
            let fields = headers.merging(["Prefer": "respond-async"]) { own, _ in own }
            return try await larder.send(method, target, method == "GET" ? headers : fields, body: body)
        }
    }
}
