import Concurrency
import Foundation
import NIOCore
import Storage
import TestKit
import Testing

@testable import Upstream

/// Bodies that are stored while they pass.
@Suite(.timeLimit(.minutes(10)))
struct CachingBodyTeeTests {
    private struct Failed: Error {}

    private let database: LarderDatabase
    private let saved = Watched<[StoredBody]>([])
    private let outcomes = Watched<[String]>([])

    init() throws {
        database = try LarderDatabase.temporary()
    }

    private func tee(
        expectedLength: Int? = nil,
        limit: Int = .max,
        checksum: String? = nil,
        save: CachingBodyTee.Save? = nil
    ) -> CachingBodyTee {
        CachingBodyTee(
            to: database.blobs,
            expectedLength: expectedLength,
            limit: limit,
            checksum: checksum.flatMap { BodyChecksum(md5: $0) },
            save: save ?? { [saved] body in saved.update { $0.append(body) } }
        )
    }

    /// Reads a body through a tee, and returns its bytes.
    private func read(_ tee: CachingBodyTee, _ parts: [String], thenFails: Bool = false) async throws -> String {
        let source = ByteStream {
            var rest = parts[...]
            return {
                if rest.isEmpty, thenFails { throw Failed() }
                return rest.popFirst().map { ByteBuffer(string: $0) }
            }
        }
        let body = tee.passing(source) { [outcomes] outcome in
            outcomes.update { $0.append("\(outcome)") }
        }
        var text = ""
        for try await part in body { text += String(buffer: part) }
        return text
    }

    @Test("What has arrived of a body goes to who wants it if its reader leaves, and not if it was stored")
    func remains() async throws {
        let left = Watched<[Int]>([])
        for limit in [1, 2, 3] {
            let tee = CachingBodyTee(
                to: database.blobs,
                expectedLength: 6,
                remains: { _, received in left.update { $0.append(received) } },
                save: { [saved] body in saved.update { $0.append(body) } }
            )
            let body = tee.passing(ByteStream(ByteBuffer(string: "ab")).repeated(3)) { _ in }
            var count = 0
            for try await _ in body {
                count += 1
                if count == limit { break }
            }
        }
        #expect(left.value == [2, 4] && saved.value.map(\.count) == [6])
    }

    private func bytes(_ body: StoredBody?) throws -> Data {
        switch try #require(body) {
        case .bytes(let bytes): bytes
        case .blob(let blob): try database.blobs.reader(blob).readAll()
        }
    }

    @Test("A body is stored whole, in memory while it is small and in a file otherwise", arguments: [1, 4000])
    func stored(repetitions: Int) async throws {
        let part = String(repeating: "0123456789", count: repetitions)
        #expect(try await read(tee(), [part, part, part]) == part + part + part)
        #expect(outcomes.value == ["stored"])
        #expect(try bytes(saved.value.first) == Data((part + part + part).utf8))
        if case .blob? = saved.value.first { #expect(repetitions == 4000) } else { #expect(repetitions == 1) }
    }

    @Test("The last announced part is returned once all is stored")
    func order() async throws {
        let source = ByteStream(ByteBuffer(string: "abc"))
        let body = tee(expectedLength: 3).passing(source) { _ in }
        let iterator = body.makeAsyncIterator()
        #expect(try await iterator.next() != nil)
        #expect(saved.value.count == 1)
        #expect(try await iterator.next() == nil)
        #expect(saved.value.count == 1)
    }

    @Test("An empty body is stored")
    func empty() async throws {
        #expect(try await read(tee(expectedLength: 0), []).isEmpty)
        #expect(outcomes.value == ["stored"])
    }

    @Test("A body beyond the limit passes without being stored", arguments: [nil, 6])
    func tooLarge(announced: Int?) async throws {
        #expect(try await read(tee(expectedLength: announced, limit: 5), ["abc", "def"]) == "abcdef")
        #expect(outcomes.value == ["tooLarge"])
        #expect(saved.value.isEmpty)
    }

    @Test("A body of another length than announced is not stored")
    func length() async throws {
        #expect(try await read(tee(expectedLength: 4), ["abc"]) == "abc")
        #expect(outcomes.value == ["wrongLength"])
        #expect(saved.value.isEmpty)
    }

    @Test("A body of another checksum than announced is not stored")
    func checksum() async throws {
        let abc = "900150983cd24fb0d6963f7d28e17f72"
        #expect(try await read(tee(checksum: abc), ["a", "bc"]) == "abc")
        #expect(try await read(tee(checksum: abc.uppercased()), ["abc"]) == "abc")
        #expect(try await read(tee(checksum: abc), ["abd"]) == "abd")
        #expect(outcomes.value == ["stored", "stored", "wrongChecksum"])
        #expect(saved.value.count == 2)
    }

    @Test("Text of another kind is no checksum", arguments: ["", "abc", String(repeating: "x", count: 32)])
    func noChecksum(text: String) {
        #expect(BodyChecksum(md5: text) == nil)
    }

    @Test("A source that breaks off ends the body, and nothing is stored")
    func broken() async throws {
        await #expect(throws: Failed.self) { try await read(tee(), ["abc"], thenFails: true) }
        #expect(outcomes.value.count == 1 && outcomes.value.first?.hasPrefix("brokenOff") == true)
        #expect(saved.value.isEmpty)
    }

    @Test("A body that cannot be saved passes all the same, and leaves no file")
    func unsaved() async throws {
        let part = String(repeating: "x", count: BlobStore.inlineLimit)
        let failing = tee { [saved] body in
            saved.update { $0.append(body) }
            throw Failed()
        }
        #expect(try await read(failing, [part, part]) == part + part)
        #expect(outcomes.value.first?.hasPrefix("notStored") == true)
        guard case .blob(let blob)? = saved.value.first else {
            Issue.record("\(saved.value)")
            return
        }
        #expect(throws: StorageError.self) { try database.blobs.reader(blob) }
    }

    @Test("What the caller throws ends the body before its last part")
    func refused() async throws {
        let body = tee(expectedLength: 3).passing(ByteStream(ByteBuffer(string: "abc"))) { _ in throw Failed() }
        await #expect(throws: Failed.self) {
            for try await _ in body { Issue.record("a part was returned") }
        }
    }
}

extension ByteStream {
    /// The same parts, several times.
    fileprivate func repeated(_ count: Int) -> ByteStream {
        ByteStream {
            var (rest, iterator) = (count, makeAsyncIterator())
            return {
                while rest > 0 {
                    if let part = try await iterator.next() { return part }
                    rest -= 1
                    iterator = makeAsyncIterator()
                }
                return nil
            }
        }
    }
}
