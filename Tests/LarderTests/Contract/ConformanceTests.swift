import Screens
import TestKit
import Testing

@testable import Larder

@Suite("Responses of the running server")
struct ConformanceTests {
    /// Documented responses that no test can cause, with the reason. Keys are `METHOD path status code`, with an empty
    /// code if the response has none.
    static let unseen: [String: String] = [
        "POST /v1/notes/session 503 overloaded":
            "needs more logins at once than a test can be sure of; PasswordHasherTests shows that they are turned away",
        "PUT /v1/notes/account/password 503 overloaded": "as above",
        "POST /v1/notes/account/deletion 503 overloaded": "as above",
        "PUT /v1/disk/file/content 502 outcome-unknown":
            "the operation that tells the outcome has to be away as well; LateUploadsTests shows it",
        "POST /v1/pdf/documents/{id}/save-to-disk 502 outcome-unknown": "as above",
        "POST /v1/ships/session 401 invalid-credentials":
            "needs a server with ships.accounts; SessionsTests of Ships shows it",
        "POST /v1/disk/session 500 internal":
            "without a database there is no way to the Disk either, and that is found first",
        "GET /v1/disk/file/pdf 200 ": needsOffice, "GET /v1/disk/file/pdf 206 ": needsOffice,
        "GET /v1/disk/file/pdf 304 ": needsOffice,
        "GET /v1/disk/file/pdf 416 bad-range": needsOffice, "GET /v1/disk/file/pdf 501 tool-missing": needsOffice,
    ]
    private static let needsOffice = "LibreOffice makes the PDF, and the machines of these tests may have it or not"

    /// Any operation may meet a full or failing disk. The test below wants to see one of each app; `FaultLoopTests` and
    /// `FaultTests` of the apps let each system call of each kind of write fail.
    private static func isFaultOfDisk(_ key: String) -> Bool {
        key.hasSuffix(" 507 storage-full") || key.hasSuffix(" 500 storage-failed")
    }

    /// Any change may have the key of another one. `KeyedNotesTests` and `IdempotencyKeyTests` show more of them; here
    /// one operation sees it.
    private static func isOtherKey(_ key: String) -> Bool {
        key.hasSuffix(" 422 idempotency-key-reused") && !key.hasPrefix("POST /v1/notes ")
    }

    /// Any write or read of the Disk that may be `locked` may meet these, by the code in the API's error.
    /// `WriteRunSendingTests` shows each code; here one operation sees them.
    private static func isOtherLock(_ key: String) -> Bool {
        (key.hasSuffix(" 423 upload-limit") || key.hasSuffix(" 423 upstream-read-only"))
            && !key.hasPrefix("POST /v1/disk/folders ")
    }

    /// Whether a response is sent only by a process that serves some of the apps; the server of these tests serves all.
    /// EndToEnd/NodeTests covers each app with several methods; the status depends on the beginning of the path.
    private static func isOfOtherProcess(_ key: String) -> Bool { key.hasSuffix(" 421 misdirected-request") }

    /// Whether a response is sent only by a process with a shared store. EndToEnd/SharedShopTests and
    /// NotesTests/NotesOfServersTests cover `store-unavailable`; ScreensTests/ProblemTests, `outcome-unknown`.
    private static func isOfSharedStore(_ key: String) -> Bool {
        if key.hasSuffix(" 503 store-unavailable") || key.hasSuffix(" 409 idempotency-key-in-use") { return true }
        guard key.hasSuffix(" 502 outcome-unknown"), !key.contains("/save-to-disk ") else { return false }
        // Other writes of the Disk have outcomes that Yandex Disk leaves unknown.
        let local = ["onboarding", "session", "offline", "outbox", "downloads"].map { "disk/\($0)" }
        return (["notes", "pdf", "shop", "ships"] + local).contains { key.contains(" /v1/\($0)") }
    }

    let document: OpenAPIDocument

    init() throws {
        document = try OpenAPIDocument.load()
    }

    @Test("SRV-02 Every response conforms: status, header fields, content type, body")
    func conformance() async throws {
        let conformance = Conformance(document: document)
        for observation in try await Conversation.observations() {
            let faults = try conformance.faults(of: observation)
            #expect(
                faults.isEmpty,
                "\(observation.operation) \(observation.response.status) [\(observation.request)]: \(faults)"
            )
        }
    }

    @Test("SRV-02 Every documented status and problem code of every operation is seen, except those with a reason")
    func coverage() async throws {
        let seen = Set(
            try await Conversation.observations().map {
                "\($0.operation) \($0.response.status) \($0.response.problemCode ?? "")"
            }
        )
        var documented: Set<String> = []
        for operation in document.operations {
            for (status, response) in operation.responses {
                let codes = try document.problemCodes(of: response)
                documented.formUnion((codes.isEmpty ? [""] : codes).map { "\(operation.key) \(status) \($0)" })
            }
        }
        let excused = documented.filter {
            Self.isFaultOfDisk($0) || Self.isOtherKey($0) || Self.isOtherLock($0) || Self.isOfOtherProcess($0)
                || Self.isOfSharedStore($0)
        }
        #expect(
            documented.subtracting(seen).subtracting(Self.unseen.keys).subtracting(excused).sorted() == [],
            "never seen"
        )
        // Responses that need LibreOffice are seen only on machines that have it.
        let neverSeen = Self.unseen.filter { $0.value != Self.needsOffice }.keys
        #expect(seen.intersection(neverSeen).sorted() == [], "excused, but seen")
        #expect(Set(Self.unseen.keys).subtracting(documented).sorted() == [], "excused, but not documented")
    }

    @Test("TRUST-02 On a full disk each app refuses writes with 507 storage-full, serves reads, and recovers by itself")
    func fullDisk() async throws {
        let full = try await Conversation.observations().filter { $0.response.problemCode == "storage-full" }
        let apps = Set(full.map { $0.operation.split(separator: "/")[2] })
        #expect(apps == ["disk", "shop", "pdf", "ships", "notes"])
        #expect(full.allSatisfy { $0.response.status == 507 })
    }

    @Test("SRV-02 Every documented parameter of a query was sent")
    func parameters() async throws {
        let observations = try await Conversation.observations()
        for operation in document.operations {
            for parameter in try (operation.value["parameters"]?.array ?? []).map(document.resolved)
            where parameter["in"] == .string("query") {
                let name = try #require(parameter["name"]?.string)
                #expect(
                    observations.contains { $0.operation == operation.key && $0.request.contains("\(name)=") },
                    "\(operation.key) \(name)"
                )
            }
        }
    }

    @Test("SRV-02 A page of a request without a limit has the documented default")
    func defaultLimits() async throws {
        var seen: Set<String> = []
        for observation in try await Conversation.observations() where !observation.request.contains("limit=") {
            let operation = document.operation(observation.operation)?.value
            let parameters = try (operation?["parameters"]?.array ?? []).map(document.resolved)
            guard let standard = parameters.first(where: { $0.name == "limit" })?.schema.default.number,
                let limit = (try? observation.response.json)?.meta.page.limit.number
            else { continue }
            #expect(limit == standard, "\(observation.request)")
            seen.insert(observation.operation)
        }
        #expect(seen.count > 10, "\(seen)")
    }

    @Test("SRV-06 A problem says the same in all its members and in the status")
    func problems() async throws {
        for observation in try await Conversation.observations() {
            guard let code = observation.response.problemCode,
                let known = AppList.standard.problems.first(where: { $0.rawValue == code })
            else { continue }
            let problem = try observation.response.json
            #expect(problem["type"] == .string("urn:larder:problem:\(code)"))
            let isRussian = observation.response.headers["content-language"] == "ru"
            #expect(problem["title"] == .string(isRussian ? known.title.russian : known.title.english))
            #expect(problem["status"] == .number(Double(observation.response.status)))
            #expect(problem["retryable"] == .bool(known.isRetryable))
            // The connection layer knows no path; everything behind it does.
            let path = observation.response.headers["x-request-id"] == nil ? "" : ContractScenario.path(of: observation)
            #expect(problem["instance"] == .string(path), "\(observation.request)")
        }
    }

    @Test("SRV-05 Every row of the table of Cache-Status was seen, and body and header say the same")
    func flags() async throws {
        var details: Set<String> = []
        for observation in try await Conversation.observations()
        where observation.response.status == 200 && !observation.isHead {
            guard let cacheStatus = observation.response.headers["cache-status"],
                observation.response.headers["content-type"]?.hasPrefix("application/json") == true
            else { continue }
            let parts = cacheStatus.split(separator: "; ").map(String.init)
            let detail = parts.first { $0.hasPrefix("detail=") }.map { String($0.dropFirst("detail=".count)) }
            details.insert(
                detail ?? (parts.contains("hit") ? "hit" : parts.contains("fwd-status=304") ? "revalidated" : "fetched")
            )
            let meta = try #require(try observation.response.json["meta"])
            #expect(
                (meta["offline"] == .bool(true)) == (detail == "offline" || detail == "unreachable"),
                "\(observation.request) \(cacheStatus)"
            )
            let ttl = parts.first { $0.hasPrefix("ttl=") }.flatMap { Int($0.dropFirst("ttl=".count)) }
            #expect(
                (meta["stale"] == .bool(true)) == (detail != nil || ttl.map { $0 < 0 } ?? false),
                "\(observation.request) \(cacheStatus)"
            )
        }
        let table = [
            "hit", "fetched", "revalidated", "offline", "unreachable", "stale-if-error", "bad-response", "patience",
            "retry-after", "storage-full",
        ]
        #expect(details.isSuperset(of: table), "\(details)")
    }

    @Test("SRV-12, TRUST-17 The metrics are text that Prometheus reads: all documented, with HELP and their types")
    func metrics() async throws {
        let documented = try #require(document.operation("GET /metrics")?.value["x-metrics"]?.object)
        let texts = try await Conversation.observations().filter {
            $0.operation == "GET /metrics" && $0.response.status == 200 && !$0.isHead
        }.map(\.response.text)
        #expect(!texts.isEmpty)
        var described: Substring = ""
        for line in texts.flatMap({ $0.split(separator: "\n") }) {
            if let help = line.wholeMatch(of: /# HELP (\w+) .+\./) {
                described = help.1
            } else if let type = line.wholeMatch(of: /# TYPE (\w+) (\w+)/) {
                #expect(documented[String(type.1)] == .string(String(type.2)), "\(line)")
                #expect(described == type.1, "\(line) has no HELP")
            } else {
                #expect(line.wholeMatch(of: /\w+(\{(\w+="([^"\\]|\\.)*",?)*\})? [-+0-9.e]+/) != nil, "\(line)")
            }
        }
    }

    @Test("SRV-09 Events of the stream are as they are described")
    func events() async throws {
        let conformance = Conformance(document: document)
        let streams = try await Conversation.observations().filter {
            $0.operation == "GET /v1/events" && $0.response.status == 200 && !$0.isHead
        }
        let events = streams.flatMap { ServerSentEvents($0.response.text).events }
        #expect(Set(events.map(\.kind)).isSuperset(of: ["connectivity", "screen-changed", "reset", "job"]))
        for event in events { #expect(try conformance.faults(of: event) == []) }
    }
}
