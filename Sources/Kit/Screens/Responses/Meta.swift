package import Foundation
package import Freshness

/// The state a screen is in. The error state is a problem document.
package enum ScreenState: String, Encodable, Sendable {
    /// There is content.
    case content
    /// There is no content, and that is not an error.
    case empty
    /// The content is being made; only with 202.
    case loading
}

/// `meta` of the envelope.
package struct Meta: Encodable, Sendable {
    /// Name of the screen, `app.screen`.
    package var screen: String
    /// State of the screen.
    package var state: ScreenState
    /// Origin of the data.
    package var source: Provenance.Source
    /// Whether the upstream could not be reached.
    package var offline: Bool
    /// Whether the data is older than its freshness time.
    package var stale: Bool
    /// When this data was received. A confirmation by the upstream does not change it, so that the body stays the same.
    /// Null for local data.
    @Nullable package var fetchedAt: Date?
    /// Version of the data, if the screen counts versions.
    package var revision: Int?
    /// True if only a part of all data could be searched.
    package var partial: Bool?
    /// The notification to show, or null.
    @Nullable package var banner: Banner?
    /// Which part of a list this is.
    package var page: Page?
    /// Number of writes that wait for the upstream; absent if none does.
    package var pending: Int?
    /// Number of them that do not get on by themselves: they were refused, are in conflict, or fail again and again.
    /// Absent if there are none.
    package var needsDecision: Int?

    /// The writes of a user that wait for the upstream.
    package struct PendingWrites: Sendable, Equatable {
        /// Number of them.
        package var count: Int
        /// Number of them that do not get on by themselves.
        package var undecided: Int

        /// Creates the numbers.
        package init(count: Int, undecided: Int) {
            (self.count, self.undecided) = (count, undecided)
        }
    }

    /// Creates metadata from the provenance of the data.
    ///
    /// - Parameter banner: The notification to show; nil for one about writes that need a decision, if there are some.
    package init(
        screen: String,
        state: ScreenState = .content,
        provenance: Provenance,
        revision: Int? = nil,
        partial: Bool? = nil,
        banner: Banner? = nil,
        page: Page? = nil,
        pending: PendingWrites? = nil
    ) {
        self.screen = screen
        self.state = state
        source = provenance.source
        offline = provenance.offline
        stale = provenance.stale
        _fetchedAt = Nullable(wrappedValue: provenance.contentFetchedAt ?? provenance.validatedAt)
        self.revision = revision
        self.partial = partial
        self.page = page
        self.pending = pending?.count
        needsDecision = pending.flatMap { $0.undecided > 0 ? $0.undecided : nil }
        _banner = Nullable(wrappedValue: banner ?? needsDecision.map(Banner.needsDecision))
    }
}

extension Meta: JSONWritable {
    /// Writes the members in order.
    ///
    /// - Throws: `EncodingError` for a value that JSON has no form for.
    package func write(to json: inout JSONWriter) throws {
        json.beginObject()
        try json.member("banner", banner)
        json.member("fetched_at", fetchedAt)
        if let needsDecision { json.member("needs_decision", needsDecision) }
        json.member("offline", offline)
        if let page { try json.member("page", page) }
        if let partial { json.member("partial", partial) }
        if let pending { json.member("pending", pending) }
        if let revision { json.member("revision", revision) }
        json.member("screen", screen)
        json.member("source", source.rawValue)
        json.member("stale", stale)
        json.member("state", state.rawValue)
        json.endObject()
    }
}
