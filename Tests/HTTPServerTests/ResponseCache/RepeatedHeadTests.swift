import Foundation
import Freshness
import NIOCore
import NIOHTTP1
import TestKit
import Testing

@testable import HTTPServer

@Suite("Heads that a connection repeats") struct RepeatedHeadTests {
    private static let head = CachingConnection.head("/kept", "Authorization: Bearer one\r\n")

    /// A connection that has had a hit.
    private static func repeating(_ head: String = head, _ token: ChangeToken = .unlimited) throws -> CachingConnection
    {
        let kept = try CachingConnection()
        _ = try kept.record(head, "body", token)
        kept.connection.receive(head)
        #expect(try kept.connection.sent().hasSuffix("body"))
        #expect(kept.passed == 1)
        return kept
    }

    @Test("SRV-06 A repeated head gets its response, also many together")
    func repeated() throws {
        let kept = try Self.repeating()
        kept.connection.receive(Self.head)
        #expect(try kept.connection.sent().hasSuffix("body"))
        kept.connection.receive(Self.head + Self.head + Self.head)
        #expect(try kept.connection.sent().components(separatedBy: "\r\n\r\nbody").count == 4)
        #expect(kept.passed == 1)
    }

    @Test("SRV-06 A head that differs in any byte is another request")
    func changed() throws {
        for (index, byte) in Self.head.utf8.enumerated() where (0x61...0x7A).contains(byte) {
            let kept = try Self.repeating()
            var bytes = Array(Self.head.utf8)
            bytes[index] = byte == UInt8(ascii: "q") ? byte - 1 : UInt8(ascii: "q")
            kept.connection.receive(String(decoding: bytes, as: UTF8.self))
            #expect(try !kept.connection.sent().hasSuffix("body"), "\(index)")
        }
    }

    @Test("A repeated head is served by the application once its response is not valid any more, and then anew")
    func invalid() throws {
        let counter = VersionCounter()
        let kept = try Self.repeating(Self.head, ChangeToken(of: counter))
        counter.bump()
        #expect(try kept.record(Self.head, "new", ChangeToken(of: counter)).hasSuffix("new"))
        #expect(kept.passed == 2)
        kept.connection.receive(Self.head)
        #expect(try kept.connection.sent().hasSuffix("new"))
        #expect(kept.passed == 2)
    }

    @Test("SRV-11 A repeated head keeps no response that the cache has evicted or forgotten")
    func evicted() throws {
        let kept = try Self.repeating()
        kept.responses.close()
        kept.connection.receive(Self.head)
        #expect(try kept.connection.sent() == "")
        #expect(kept.passed == 2)
        let small = try CachingConnection(budget: 64 << 10)
        _ = try small.record(Self.head, "body")
        weak let evicted = small.responses.find(ByteBuffer(string: Self.head), now: .now())?.response
        small.connection.receive(Self.head)
        #expect(try small.connection.sent().hasSuffix("body") && evicted != nil)
        for number in 0..<200 {
            _ = try small.record(CachingConnection.head("/\(number)"), String(repeating: "x", count: 4000))
        }
        #expect(evicted == nil)
    }

    @Test("Each response to a repeated head has an identity of its own, unless the client sends one")
    func identity() throws {
        for field in ["", "X-Request-Id: mine\r\n"] {
            let head = CachingConnection.head("/kept", field)
            let kept = try CachingConnection()
            _ = try kept.record(head, "body", fields: ["X-Request-Id": "first"])
            let identities = try (0..<3).map { _ in
                kept.connection.receive(head)
                return try kept.connection.sent().split(separator: "\r\n").filter {
                    $0.lowercased().hasPrefix("x-request-id")
                }
            }
            #expect(Set(identities).count == (field.isEmpty ? 3 : 1))
            #expect(identities.allSatisfy { $0.count == 1 })
        }
    }

    @Test("A head that is longer than what is kept with a connection gets its response as well")
    func long() throws {
        let kept = try Self.repeating(CachingConnection.head("/kept", "A: \(String(repeating: "a", count: 5000))\r\n"))
        kept.connection.receive(Self.head)
        #expect(kept.passed == 2)
    }
}
