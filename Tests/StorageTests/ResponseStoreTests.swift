import Crypto
import Foundation
import GRDB
import HTTP
import HTTPTypes
import Storage
import TestKit
import Testing

@Suite struct ResponseStoreTests {
    let database: LarderDatabase
    let store: ResponseStore
    let ann = CredentialHash(of: "Bearer ann", key: SymmetricKey(data: Data(repeating: 7, count: 32)))
    let bob = CredentialHash(of: "Bearer bob", key: SymmetricKey(data: Data(repeating: 7, count: 32)))

    init() throws {
        database = try LarderDatabase.temporary()
        store = ResponseStore(database)
    }

    @Test("A saved response is read as it was, with header fields in their order, repeats and bytes beyond ASCII")
    func roundTrip() async throws {
        var response = makeCachedResponse(credential: ann, body: .bytes(Data([0, 255, 10])))
        let odd = try #require(HTTPField.Name("X-oDD"))
        response.head.status = .init(code: 299, reasonPhrase: "Fine, mostly")
        response.head.headerFields = [:]
        for field in [
            HTTPField(name: .setCookie, value: "b=2"), HTTPField(name: odd, lenientValue: [0xE9, 0x20, 0x80]),
            HTTPField(name: .setCookie, value: "a=1"),
            HTTPField(name: .eTag, value: ""),
        ] {
            response.head.headerFields.append(field)
        }
        response.id = try await store.save(response)
        let found = try store.responses(like: response)
        #expect(found == [response])
        #expect(Array(try #require(found.first).head.headerFields) == Array(response.head.headerFields))
        #expect(found.first?.head.headerFields.map(\.name.rawName) == ["Set-Cookie", "X-oDD", "Set-Cookie", "ETag"])
        #expect(found.first?.head.status.reasonPhrase == "Fine, mostly")
    }

    @Test("Responses under names of an app follow their folder, of one credential only, and replace the new names'")
    func names() async throws {
        let names = ["disk/a/1?x", "disk/a/2?x", "disk/ab?x", "disk/b/1?x"]
        for who in [ann, bob] {
            for name in names {
                try await store.save(makeCachedResponse(name, credential: who, body: .bytes(Data(name.utf8))))
            }
        }
        try await database.write { [store, ann] db in
            try store.move(upstream: "ships", urlPrefix: "disk/a/", to: "disk/b/", credential: ann, in: db)
        }
        func stored(_ name: String, _ who: CredentialHash) throws -> String? {
            guard
                case .bytes(let bytes) = try store.responses(like: makeCachedResponse(name, credential: who)).first?
                    .body
            else { return nil }
            return String(decoding: bytes, as: UTF8.self)
        }
        #expect(
            try ["disk/b/1?x", "disk/b/2?x", "disk/a/1?x", "disk/ab?x"].map { try stored($0, ann) } == [
                "disk/a/1?x", "disk/a/2?x", nil, "disk/ab?x",
            ]
        )
        #expect(try names.map { try stored($0, bob) } == names)
        try await database.write { [store, bob] db in
            try store.remove(upstream: "ships", urlPrefix: "disk/a", credential: bob, in: db)
            try store.invalidate(credential: bob, in: db)
        }
        #expect(try names.map { try stored($0, bob) } == [nil, nil, nil, "disk/b/1?x"])
        #expect(
            try store.responses(like: makeCachedResponse("disk/b/1?x", credential: bob)).first?.isInvalidated == true
        )
        #expect(
            try store.responses(like: makeCachedResponse("disk/b/1?x", credential: ann)).first?.isInvalidated == false
        )
    }

    @Test("A response replaces that of its variant and keeps its identity; other variants are beside it, newest first")
    func variants() async throws {
        let german = makeCachedResponse(varying: [.acceptLanguage: "de", .accept: "*/*"])
        let first = try await store.save(german)
        var newer = makeCachedResponse(
            varying: [.accept: "*/*", .acceptLanguage: "de"],
            body: .bytes(Data("new".utf8)),
            seconds: 5
        )
        newer.id = try await store.save(newer)
        var french = makeCachedResponse(varying: [.acceptLanguage: "fr", .accept: "*/*"], seconds: 9)
        french.id = try await store.save(french)
        #expect(newer.id == first)
        #expect(try store.responses(like: german) == [french, newer])
    }

    @Test("A credential sees its own and the shared responses, and no others")
    func credentials() async throws {
        let shared = makeCachedResponse(seconds: 1)
        let anns = makeCachedResponse(credential: ann, seconds: 2)
        let bobs = makeCachedResponse(credential: bob, seconds: 3)
        for response in [shared, anns, bobs] { try await store.save(response) }
        #expect(try store.responses(like: anns).map(\.credential) == [ann, nil])
        #expect(try store.responses(like: shared).map(\.credential) == [nil])
        try await database.write { try store.remove(credential: ann, in: $0) }
        #expect(try store.responses(like: anns).map(\.credential) == [nil])
        #expect(try store.responses(like: bobs).map(\.credential) == [bob, nil])
    }

    @Test("What one upstream, method or URL said is not another's")
    func keys() async throws {
        try await store.save(makeCachedResponse())
        var other = makeCachedResponse()
        other.upstream = "other"
        #expect(try store.responses(like: other).isEmpty)
        other = makeCachedResponse()
        other.head.method = .head
        #expect(try store.responses(like: other).isEmpty)
        #expect(try store.responses(like: makeCachedResponse("https://ships.test/v4/Ships")).isEmpty)
    }

    @Test("The credential's text is nowhere in the database")
    func credentialIsNotKept() async throws {
        try await store.save(
            makeCachedResponse(credential: CredentialHash(of: "Bearer rutabaga", key: SymmetricKey(size: .bits256)))
        )
        try database.close()
        let bytes = try Data(contentsOf: URL(fileURLWithPath: database.directory.databasePath))
        #expect(bytes.range(of: Data("https://ships.test".utf8)) != nil)
        #expect(bytes.range(of: Data("rutabaga".utf8)) == nil)
    }

    @Test("An app's rows and the response they were made of are stored together or not at all")
    func oneTransaction() async throws {
        struct Refusal: Error {}
        await #expect(throws: Refusal.self) {
            try await database.write { db in
                try store.save(makeCachedResponse(), in: db)
                throw Refusal()
            }
        }
        #expect(try store.responses(like: makeCachedResponse()).isEmpty)
        #expect(try store.totals().isEmpty)
    }

    @Test("Validation replaces header fields and times, keeps the body and lifts an invalidation")
    func freshen() async throws {
        let id = try await store.save(makeCachedResponse())
        try await database.write { try store.invalidate(upstream: "ships", url: "https://ships.test/v4/ships", in: $0) }
        #expect(try store.responses(like: makeCachedResponse()).map(\.isInvalidated) == [true])
        var head = makeCachedResponse().head
        head.headerFields = [.eTag: "\"a\"", .date: "later"]
        (head.requestTime, head.responseTime) = (noon + 60, noon + 61)
        let isStored = try await database.write { [head] in try store.freshen(id, by: head, in: $0) }
        let found = try #require(try store.responses(like: makeCachedResponse()).first)
        #expect(isStored && !found.isInvalidated && found.body == .bytes(Data("[]".utf8)))
        #expect(found.head.headerFields == [.eTag: "\"a\"", .date: "later"])
        #expect(
            found.head.requestTime == noon + 60 && found.head.responseTime == noon + 61
                && found.lastUsed == noon + 61
        )
        try await database.write { try store.remove(id, in: $0) }
        let isStoredStill = try await database.write { [head] in try store.freshen(id, by: head, in: $0) }
        #expect(!isStoredStill)
    }

    @Test("A use moves the last use forward, never backward")
    func touch() async throws {
        let id = try await store.save(makeCachedResponse())
        try await database.write { try store.touch([id: noon + 30, 4711: noon], in: $0) }
        try await database.write { try store.touch([id: noon + 10], in: $0) }
        #expect(try store.responses(like: makeCachedResponse()).map(\.lastUsed) == [noon + 30])
    }

    @Test("Times stay the same however often they are stored and read")
    func timesDoNotDrift() async throws {
        var response = makeCachedResponse(seconds: 0.001)
        response.id = try await store.save(response)
        let once = try #require(try store.responses(like: response).first)
        try await store.save(once)
        #expect(try store.responses(like: response) == [once])
        #expect(abs(once.head.responseTime.timeIntervalSince(response.head.responseTime)) < 0.0011)
    }

    @Test("Totals follow saving, replacing, validating and removing, blobs included")
    func totals() async throws {
        let blob = try database.blobs.write(Data(count: 150_000))
        let id = try await store.save(makeCachedResponse(body: .blob(blob)))
        func sum() throws -> Int? {
            try database.integer("SELECT sum(size) FROM stored_response")
        }
        #expect(try #require(try store.totals().first).bytes > 150_000)
        #expect(try store.totals().first?.bytes == sum())
        try await store.save(makeCachedResponse())
        var head = makeCachedResponse().head
        head.headerFields = [.eTag: "long"]
        try await database.write { [head] in _ = try store.freshen(id, by: head, in: $0) }
        let bytes = try #require(try store.totals().first).bytes
        #expect(try bytes < 200 && bytes == sum())
        try await database.write { try store.remove(upstream: "ships", url: "https://ships.test/v4/ships", in: $0) }
        let total = try #require(try store.totals().first)
        #expect(total.responses == 0 && total.bytes == 0)
    }

    @Test("A row that was not written by this program is not used, and a new response takes its place")
    func undecodable() async throws {
        let log = LogRecorder()
        let database = try LarderDatabase.temporary(logger: log.logger)
        let store = ResponseStore(database)
        for change in ["status = 99", "status = 101", "status = 1000", "header = x'ff'"] {
            try await store.save(makeCachedResponse())
            try await database.write { try $0.execute(sql: "UPDATE stored_response SET \(change)") }
            #expect(try store.responses(like: makeCachedResponse()) == [], "\(change)")
            try await store.save(makeCachedResponse())
            #expect(try store.responses(like: makeCachedResponse()).count == 1, "\(change)")
        }
        #expect(log.messages.count == 4)
    }

    @Test("Of endless variants only the newest are kept")
    func variantLimit() async throws {
        let store = ResponseStore(database, maximumVariants: 3)
        for number in 1...5 {
            try await store.save(makeCachedResponse(varying: [.cookie: "\(number)"], seconds: Double(number)))
        }
        #expect(
            try store.responses(like: makeCachedResponse()).map { $0.head.varyingFields[.cookie] } == ["5", "4", "3"]
        )
    }
}

@Suite struct ResponseStoreSavingTests {
    @Test("Eight tasks that save and read one key see whole responses, and leave one response, one file, right totals")
    func oneKey() async throws {
        let database = try LarderDatabase.temporary()
        let store = ResponseStore(database)
        try await (0..<8).concurrentMap { task in
            for round in 0..<20 {
                // All bytes of a body are equal, and its length follows from them: a mixed one would show.
                let value = UInt8(task * 20 + round)
                let bytes = Data(repeating: value, count: 100 + Int(value))
                let body: StoredBody =
                    round.isMultiple(of: 2) ? .bytes(bytes) : .blob(try database.blobs.write(bytes))
                try await store.save(makeCachedResponse(body: body, seconds: Double(value)))
                let responses = try store.responses(like: makeCachedResponse())
                #expect(responses.count == 1)
                guard let response = responses.first else { continue }
                let seen: Data?
                switch try await store.openBody(of: response) {
                case .bytes(let data): seen = data
                case .blob(let reader): seen = try reader.readAll()
                case nil: seen = nil  // Replaced between the two reads.
                }
                guard let seen, let first = seen.first else { continue }
                #expect(seen == Data(repeating: first, count: 100 + Int(first)))
                #expect(response.head.responseTime == noon + Double(first))
            }
        }
        #expect(try store.totals().map(\.responses) == [1])
        let sizes = try await database.pool.read { try Int.fetchOne($0, sql: "SELECT sum(size) FROM stored_response") }
        #expect(try store.totals().map(\.bytes) == [sizes])
        let blobs = try await database.pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM blob") }
        #expect(try database.blobs.fileNames().count == blobs)
    }
}

/// The moment that the times of made responses are relative to.
let noon = Date(timeIntervalSince1970: 1_767_700_000.125)

/// A response of made data; it was received `seconds` after ``noon``.
func makeCachedResponse(
    _ url: String = "https://ships.test/v4/ships",
    upstream: String = "ships",
    credential: CredentialHash? = nil,
    varying: HTTPFields = [:],
    body: StoredBody = .bytes(Data("[]".utf8)),
    seconds: Double = 0
) -> CachedResponse {
    CachedResponse(
        upstream: upstream,
        credential: credential,
        head: CachedResponseHead(
            url: url,
            varyingFields: varying,
            status: .ok,
            headerFields: [.contentType: "application/json", .eTag: "\"a\""],
            requestTime: noon + seconds - 0.25,
            responseTime: noon + seconds
        ),
        body: body
    )
}

extension ResponseStore {
    /// Returns the stored responses with the key of a response.
    func responses(like response: CachedResponse) throws -> [CachedResponse] {
        try responses(
            upstream: response.upstream,
            method: response.head.method,
            url: response.head.url,
            credential: response.credential
        )
    }
}
