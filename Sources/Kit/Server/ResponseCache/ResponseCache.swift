package import Concurrency
import DequeModule
package import Logging
import Metrics
import NIOCore
import Synchronization

/// Responses that were sent and are still valid, by the bytes of the request head that they depend on. Shared by all
/// event loops; bounded.
///
/// These bytes contain whatever authorised the request, so no client gets a response made for another. See
/// docs/decisions/0014.
package final class ResponseCache: Sendable {
    /// Annotations of a response that may be cached.
    struct Ticket: Sendable {
        /// How long the response is valid.
        let changeToken: ChangeToken
        /// The record that is counted and logged each time.
        let record: RequestRecord
        /// Whether its `Date` is that of another origin, which stays.
        var keepsDate = false
        /// As in ``ResponseAnnotations``.
        var isSelective = false
    }

    /// The place of a cached response, by which it is found again without its key.
    struct Location: Sendable {
        fileprivate let shard: Shard
        fileprivate let slot: ResponseCacheShard.Slot
        /// Whether the head had cookies on which the response does not depend.
        fileprivate let hadCookies: Bool
    }

    /// A shard under its lock.
    fileprivate final class Shard: Sendable {
        let content: Mutex<ResponseCacheShard>

        init(_ content: ResponseCacheShard) { self.content = Mutex(content) }
    }

    /// Largest response that is cached, in bytes; each hit copies it on the event loop.
    static let largest = 256 << 10
    private static let shardCount = 8

    /// Assigns identities to the requests of the server that this cache belongs to.
    package let identities: RequestIdentities
    let logger: Logger
    let hits = Counter(label: "larder_rendered_hits_total")
    private let sleep: SleepWatch
    private let languages: [String]
    private let cookies: String?
    private let shards: [Shard]
    private let isClosed = Atomic(false)

    /// - Parameters:
    ///   - budgetBytes: size limit in bytes, as responses are in memory
    ///   - entries: largest number of responses
    ///   - languages: the languages that the server speaks, by their tags
    ///   - cookies: the prefix of the names of the server's own cookies; nil if it has none
    ///   - run: distinguishes the runs of the server in request identities
    ///   - sleep: detects that the machine has slept: no response is valid then
    ///   - logger: gets a line for every request
    package init(
        budgetBytes: Int,
        entries: Int = 65_536,
        languages: [String] = [],
        cookies: String? = nil,
        run: String,
        sleep: SleepWatch = SleepWatch(),
        logger: Logger
    ) {
        self.sleep = sleep
        self.languages = languages
        self.cookies = cookies
        identities = RequestIdentities(run: run)
        self.logger = logger
        let (bytes, count) = (budgetBytes / Self.shardCount, max(1, entries / Self.shardCount))
        shards = (0..<Self.shardCount).map { _ in
            Shard(ResponseCacheShard(budget: bytes, entries: count))
        }
    }

    /// Number of cached responses, and the bytes that they take.
    var size: (entries: Int, bytes: Int) {
        shards.reduce((0, 0)) { sum, shard in
            let size = shard.content.withLock { ($0.count, $0.bytes) }
            return (sum.0 + size.0, sum.1 + size.1)
        }
    }

    /// Caches the bytes of a response if it is still valid and can be repeated.
    /// - Parameters:
    ///   - bytes: the sent head and body
    ///   - ticket: annotations of the response
    ///   - head: bytes of the request head
    func record(_ bytes: ByteBuffer, _ ticket: Ticket, for head: ByteBuffer, now: NIODeadline) {
        guard ticket.changeToken.holds(at: now), let response = CachedBytes(bytes, ticket) else { return }
        let head = ClosingHead(head)?.rest ?? head
        let significant = response.dependsOnWholeHead ? nil : SignificantHead(head, languages, cookies: cookies)
        let isWhole =
            response.dependsOnWholeHead || significant.map { !response.isFor(hadCookies: $0.hadCookies) } == true
        // A copy: the bytes are a slice of a whole read.
        let bytes = isWhole ? nil : significant?.bytes
        let key = ResponseCacheKey(bytes ?? ByteBuffer(bytes: head.readableBytesView), isWhole: isWhole)
        shard(key).content.withLock {
            if !isClosed.load(ordering: .relaxed) { $0.insert(response, for: key) }
        }
    }

    /// Removes all responses and stops caching. From now on, every request is sent to the application.
    package func close() {
        isClosed.store(true, ordering: .sequentiallyConsistent)
        // Behind the flag: responses recorded before are removed, later ones see the flag under the lock.
        for shard in shards { shard.content.withLock { $0.removeAll() } }
    }

    /// Returns the response to a head, if one is cached and valid.
    func response(to head: ByteBuffer, now: NIODeadline) -> CachedBytes? { find(head, now: now)?.response }

    /// Returns the response to a head, and where it is, if one is cached and valid.
    func find(_ head: ByteBuffer, now: NIODeadline) -> (response: CachedBytes, location: Location)? {
        forgetAfterSleep()
        let significant = SignificantHead(head, languages, cookies: cookies)
        let key = ResponseCacheKey(significant?.bytes ?? head, isWhole: false)
        return find(key, hadCookies: significant?.hadCookies ?? false, now: now)
            ?? find(ResponseCacheKey(head, isWhole: true), hadCookies: false, now: now)
    }

    /// Returns the response to a head that was found at this place, if it is still cached and valid.
    func response(at location: Location, now: NIODeadline) -> CachedBytes? {
        forgetAfterSleep()
        guard let response = location.shard.content.withLock({ _ in location.slot.use() }),
            response.isFor(hadCookies: location.hadCookies), response.changeToken.holds(at: now)
        else { return nil }
        response.changeToken.noteUse(at: now)
        return response
    }

    private func forgetAfterSleep() {
        sleep.forgetAfterSleep { for shard in shards { shard.content.withLock { $0.removeAll() } } }
    }

    private func find(
        _ key: ResponseCacheKey,
        hadCookies: Bool,
        now: NIODeadline
    ) -> (response: CachedBytes, location: Location)? {
        let shard = shard(key)
        guard let (slot, response) = shard.content.withLock({ $0.find(key) }) else { return nil }
        guard response.changeToken.holds(at: now) else {
            shard.content.withLock { $0.remove(response, for: key) }
            return nil
        }
        guard response.isFor(hadCookies: hadCookies) else { return nil }
        response.changeToken.noteUse(at: now)
        return (response, Location(shard: shard, slot: slot, hadCookies: hadCookies))
    }

    private func shard(_ key: ResponseCacheKey) -> Shard {
        // Other bits than those that a dictionary takes.
        shards[Int(UInt(bitPattern: key.hash) >> 40) % Self.shardCount]
    }
}

extension ResponseCache.Ticket {
    /// The ticket of a response; nil if it is not to be cached.
    init?(_ annotations: ResponseAnnotations.Values) {
        guard let changeToken = annotations.changeToken, let record = annotations.record else { return nil }
        self.init(
            changeToken: changeToken,
            record: record,
            keepsDate: annotations.originDate != nil,
            isSelective: annotations.isSelective
        )
    }
}

/// A part of the cached responses, under one lock. Evicts by second chance: a use sets a flag, and a flagged response
/// is kept for another round, so lookups move nothing.
struct ResponseCacheShard: Sendable {
    /// Where the response of a key is; without one after it was removed.
    final class Slot: @unchecked Sendable {
        // Everything but the key is read and written under the lock of the shard only.
        fileprivate let key: ResponseCacheKey
        fileprivate var response: CachedBytes?
        fileprivate var isUsed = false

        fileprivate init(key: ResponseCacheKey, response: CachedBytes) {
            self.key = key
            self.response = response
        }

        fileprivate var cost: Int { key.bytes.capacity + 256 + (response?.cost ?? 0) }

        /// Returns the response and keeps it for another round. Called under the lock of the shard.
        func use() -> CachedBytes? {
            isUsed = true
            return response
        }
    }

    private let budget: Int
    private let entries: Int
    private var slots: [ResponseCacheKey: Slot] = [:]
    private var order = Deque<Slot>()
    /// Bytes that responses and keys take.
    private(set) var bytes = 0

    init(budget: Int, entries: Int) {
        self.budget = budget
        self.entries = entries
    }

    var count: Int { slots.count }

    func find(_ key: ResponseCacheKey) -> (slot: Slot, response: CachedBytes)? {
        guard let slot = slots[key], let response = slot.use() else { return nil }
        return (slot, response)
    }

    mutating func insert(_ response: CachedBytes, for key: ResponseCacheKey) {
        if let slot = slots[key] {
            bytes -= slot.cost
            slot.response = response
            bytes += slot.cost
        } else {
            let slot = Slot(key: key, response: response)
            slots[key] = slot
            order.append(slot)
            bytes += slot.cost
        }
        while bytes > budget || slots.count > entries, let oldest = order.popFirst() {
            if oldest.isUsed {
                oldest.isUsed = false
                order.append(oldest)
            } else {
                slots[oldest.key] = nil
                bytes -= oldest.cost
                // A connection may know the slot.
                oldest.response = nil
            }
        }
    }

    mutating func removeAll() {
        for slot in order { slot.response = nil }
        self = ResponseCacheShard(budget: budget, entries: entries)
    }

    /// Removes the bytes of a response that is no longer valid. Its key stays until it is evicted, since the next
    /// response to it is on its way.
    mutating func remove(_ response: CachedBytes, for key: ResponseCacheKey) {
        guard let slot = slots[key], slot.response === response else { return }
        bytes -= slot.cost
        slot.response = nil
        bytes += slot.cost
    }
}
