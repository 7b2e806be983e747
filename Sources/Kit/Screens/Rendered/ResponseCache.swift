public import Logging
import Metrics
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import Synchronization
import Upstream

/// Answers that were given and still hold, by the bytes of the request head that asked for them. Shared by all event
/// loops; bounded.
///
/// The head's bytes contain whatever authorised the request, so nobody is given what was made for another. See
/// docs/decisions/0014.
public final class ResponseCache: Sendable {
    /// Field of a response on its way from the router to the connection, where it is taken off: the number of what is
    /// known of the response (``expect(_:)``). Every response of the router passes a middleware that removes the field
    /// before it may set it, so no upstream can send one.
    static let mark = "Larder-Rendering"

    /// Largest answer that is kept, in bytes; it has to be copied on the event loop each time it is given.
    static let largest = 256 << 10
    private static let stripeCount = 8
    private static let mostExpected = 4096

    let identities: RequestIdentities
    let logger: Logger
    let hits = Counter(label: "larder_rendered_hits_total")
    private let sleep: SleepWatch
    private let shards: [NIOLockedValueBox<ResponseCacheShard>]
    private let expected = NIOLockedValueBox((notes: [Int: CacheTicketNote](), last: 0))

    /// Keeps at most `budgetBytes` of responses, in sizes as they are in memory, and at most `entries` of them. `run`
    /// tells the runs of the server apart in request identities.
    public convenience init(budgetBytes: Int, entries: Int = 65_536, run: String, logger: Logger) {
        self.init(budgetBytes: budgetBytes, entries: entries, run: run, sleep: SleepWatch(), logger: logger)
    }

    init(budgetBytes: Int, entries: Int = 65_536, run: String, sleep: SleepWatch, logger: Logger) {
        self.sleep = sleep
        identities = RequestIdentities(run: run)
        self.logger = logger
        let (bytes, count) = (budgetBytes / Self.stripeCount, max(1, entries / Self.stripeCount))
        shards = (0..<Self.stripeCount).map { _ in NIOLockedValueBox(ResponseCacheShard(budget: bytes, entries: count))
        }
    }

    /// Answers that are kept, and the bytes that they take.
    var size: (entries: Int, bytes: Int) {
        shards.reduce((0, 0)) { sum, shard in
            let size = shard.withLockedValue { ($0.count, $0.bytes) }
            return (sum.0 + size.0, sum.1 + size.1)
        }
    }

    // MARK: Learning

    /// The router has made a response that may be kept; gives the value of its mark.
    func expect(_ note: CacheTicketNote) -> String {
        expected.withLockedValue { expected in
            expected.last += 1
            expected.notes[expected.last] = note
            // Those whose client has left are never claimed.
            if expected.notes.count > Self.mostExpected {
                expected.notes = expected.notes.filter { $0.key > expected.last - Self.mostExpected / 2 }
            }
            return String(expected.last)
        }
    }

    /// What is known of the response with this mark; once.
    func claim(_ mark: String) -> CacheTicketNote? {
        guard let number = Int(mark) else { return nil }
        return expected.withLockedValue { $0.notes.removeValue(forKey: number) }
    }

    /// Keeps a response if it still holds.
    func keep(_ bytes: ByteBuffer, note: CacheTicketNote, for key: ByteBuffer, now: NIODeadline) {
        guard note.changeToken.holds(at: now), let response = CachedBytes(bytes, note: note) else { return }
        // A copy: what came is a slice of a whole read.
        let key = ResponseCacheKey(ByteBuffer(bytes: key.readableBytesView))
        shard(key).withLockedValue { $0.insert(response, for: key) }
    }

    // MARK: Giving

    /// The response to a head, if one is kept and holds.
    func response(to head: ByteBuffer, now: NIODeadline) -> CachedBytes? {
        sleep.forgetAfterSleep { for shard in shards { shard.withLockedValue { $0.forgetAll() } } }
        let key = ResponseCacheKey(head)
        guard let response = shard(key).withLockedValue({ $0.find(key) }) else { return nil }
        if response.changeToken.holds(at: now) {
            response.changeToken.noteUse(at: now)
            return response
        }
        shard(key).withLockedValue { $0.forget(response, for: key) }
        return nil
    }

    private func shard(_ key: ResponseCacheKey) -> NIOLockedValueBox<ResponseCacheShard> {
        // Other bits than those that a dictionary takes.
        shards[Int(UInt(bitPattern: key.hash) >> 40) % Self.stripeCount]
    }
}

/// What the router knows of a response that may be kept, until the connection has seen its bytes.
struct CacheTicketNote: Sendable {
    let changeToken: ChangeToken
    let record: RequestRecord
    /// Whether its `Date` is that of another origin, which stays.
    var hasOwnDate = false
}
