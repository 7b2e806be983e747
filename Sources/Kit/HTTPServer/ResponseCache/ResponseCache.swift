import Freshness
public import Logging
import Metrics
import NIOCore
import Synchronization

/// Responses that were sent and are still valid, by the bytes of the request head that they depend on. Shared by all
/// event loops; bounded.
///
/// These bytes contain whatever authorised the request, so no client gets a response made for another. See
/// docs/decisions/0014 and 0092.
public final class ResponseCache: Sendable {
    /// What the application knows of a response that may be cached.
    struct Ticket: Sendable {
        /// How long the response is valid.
        let changeToken: ChangeToken
        /// What is counted and logged each time.
        let record: RequestRecord
        /// Whether its `Date` is that of another origin, which stays.
        var keepsDate = false
        /// As in ``ResponseAnnotations``.
        var isSelective = false
    }

    /// A shard under its lock.
    private final class Shard: Sendable {
        let content: Mutex<ResponseCacheShard>

        init(_ content: ResponseCacheShard) { self.content = Mutex(content) }
    }

    /// Largest response that is cached, in bytes; each hit copies it on the event loop.
    static let largest = 256 << 10
    private static let shardCount = 8

    /// Assigns identities to the requests of the server that this cache belongs to.
    public let identities: RequestIdentities
    let logger: Logger
    let hits = Counter(label: "larder_rendered_hits_total")
    private let sleep: SleepWatch
    private let languages: [String]
    private let cookies: String?
    private let shards: [Shard]
    private let isClosed = Atomic(false)

    /// Creates an empty cache.
    /// - Parameters:
    ///   - budgetBytes: size limit in bytes, as responses are in memory
    ///   - entries: largest number of responses
    ///   - languages: the languages that the server speaks, by their tags
    ///   - cookies: what the names of the server's own cookies begin with; nil if it has none
    ///   - run: distinguishes the runs of the server in request identities
    ///   - logger: gets a line for every request
    public convenience init(
        budgetBytes: Int,
        entries: Int = 65_536,
        languages: [String] = [],
        cookies: String? = nil,
        run: String,
        logger: Logger
    ) {
        self.init(
            budgetBytes: budgetBytes,
            entries: entries,
            languages: languages,
            cookies: cookies,
            run: run,
            sleep: SleepWatch(),
            logger: logger
        )
    }

    init(
        budgetBytes: Int,
        entries: Int = 65_536,
        languages: [String] = [],
        cookies: String? = nil,
        run: String,
        sleep: SleepWatch,
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
    ///   - bytes: head and body as they were sent
    ///   - ticket: what the application knows of it
    ///   - head: bytes of the request head
    func record(_ bytes: ByteBuffer, _ ticket: Ticket, for head: ByteBuffer, now: NIODeadline) {
        guard ticket.changeToken.holds(at: now), let response = CachedBytes(bytes, ticket) else { return }
        let significant = response.dependsOnWholeHead ? nil : SignificantHead(head, languages, cookies: cookies)
        let isWhole = response.dependsOnWholeHead || significant.map { !response.isFor($0) } == true
        // A copy: what arrived is a slice of a whole read.
        let bytes = isWhole ? nil : significant?.bytes
        let key = ResponseCacheKey(bytes ?? ByteBuffer(bytes: head.readableBytesView), isWhole: isWhole)
        shard(key).content.withLock {
            if !isClosed.load(ordering: .relaxed) { $0.insert(response, for: key) }
        }
    }

    /// Forgets all responses and caches none any more: from now on, every request reaches the application.
    public func close() {
        isClosed.store(true, ordering: .sequentiallyConsistent)
        // Behind the flag: what was recorded before is removed, what comes later sees the flag under the lock.
        for shard in shards { shard.content.withLock { $0.removeAll() } }
    }

    /// Returns the response to a head, if one is cached and valid.
    func response(to head: ByteBuffer, now: NIODeadline) -> CachedBytes? {
        sleep.forgetAfterSleep { for shard in shards { shard.content.withLock { $0.removeAll() } } }
        let significant = SignificantHead(head, languages, cookies: cookies)
        let found = response(ResponseCacheKey(significant?.bytes ?? head, isWhole: false), now: now)
        if let found, significant.map(found.isFor) != false { return found }
        return response(ResponseCacheKey(head, isWhole: true), now: now)
    }

    private func response(_ key: ResponseCacheKey, now: NIODeadline) -> CachedBytes? {
        guard let response = shard(key).content.withLock({ $0.find(key) }) else { return nil }
        if response.changeToken.holds(at: now) {
            response.changeToken.noteUse(at: now)
            return response
        }
        shard(key).content.withLock { $0.remove(response, for: key) }
        return nil
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
