public import Foundation
public import Upstream

/// The one shape of every 2xx response of a screen (docs/contract.md, "Envelope").
public struct Envelope<Content: Encodable & Sendable>: Encodable, Sendable {
    /// What the screen shows.
    public var data: Content
    /// What there is to say about it.
    public var meta: Meta
    /// Where it is and where it goes on.
    public var links: Links

    /// Puts content into its envelope.
    public init(data: Content, meta: Meta, links: Links) {
        self.data = data
        self.meta = meta
        self.links = links
    }
}

/// The state a screen is in. The error state is a problem document.
public enum ScreenState: String, Encodable, Sendable {
    /// There is something to show.
    case content
    /// There is nothing to show, and that is not an error.
    case empty
    /// It is under way; only with 202.
    case loading
}

/// `meta` of the envelope.
public struct Meta: Encodable, Sendable {
    /// Name of the screen, `app.screen`.
    public var screen: String
    /// State of the screen.
    public var state: ScreenState
    /// Where the data comes from.
    public var source: Provenance.Source
    /// The upstream could not be reached.
    public var offline: Bool
    /// The data is older than its freshness time.
    public var stale: Bool
    /// When the data was received as it is; confirming it does not move it, so that the body stays the same. Null for
    /// local data.
    @Nullable public var fetchedAt: Date?
    /// Version of the data where a screen counts them.
    public var revision: Int?
    /// True where only a part of all data could be searched.
    public var partial: Bool?
    /// The notification to show, or null.
    @Nullable public var banner: Banner?
    /// Which part of a list this is.
    public var page: Page?

    /// Describes a response from where it came.
    public init(
        screen: String,
        state: ScreenState = .content,
        provenance: Provenance,
        revision: Int? = nil,
        partial: Bool? = nil,
        banner: Banner? = nil,
        page: Page? = nil
    ) {
        self.screen = screen
        self.state = state
        source = provenance.source
        offline = provenance.offline
        stale = provenance.stale
        _fetchedAt = Nullable(wrappedValue: provenance.contentFetchedAt ?? provenance.validatedAt)
        self.revision = revision
        self.partial = partial
        _banner = Nullable(wrappedValue: banner)
        self.page = page
    }
}

/// A notification above a screen's content.
public struct Banner: Encodable, Sendable, Equatable {
    /// When a front end takes it away.
    public enum Dismissal: Sendable, Equatable {
        /// As soon as a response comes without it.
        case online
        /// After so many seconds.
        case after(seconds: Int)
    }

    /// What it is about, such as `offline`.
    public var code: String
    /// What it says.
    public var text: String
    /// When it goes.
    public var dismissal: Dismissal

    /// Creates a banner.
    public init(code: String, text: String, dismissal: Dismissal) {
        self.code = code
        self.text = text
        self.dismissal = dismissal
    }

    private enum CodingKeys: CodingKey {
        case code, text, dismiss, afterS
    }

    /// Writes `dismiss` as `on_online`, or as `after_s` beside the seconds.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(code, forKey: .code)
        try container.encode(text, forKey: .text)
        switch dismissal {
        case .online:
            try container.encode("on_online", forKey: .dismiss)
        case .after(let seconds):
            try container.encode("after_s", forKey: .dismiss)
            try container.encode(seconds, forKey: .afterS)
        }
    }
}

/// `links` of the envelope, relative to the server's root.
public struct Links: Encodable, Sendable, Equatable {
    /// This response.
    public var `self`: String
    /// The next page, or null.
    @Nullable public var next: String?

    /// Creates links.
    public init(self own: String, next: String? = nil) {
        self.`self` = own
        _next = Nullable(wrappedValue: next)
    }
}
