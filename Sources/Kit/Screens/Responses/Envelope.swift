public import Foundation
public import Freshness
import Upstream

/// The body of every 2xx response of a screen (docs/contract.md, "Envelope").
public struct Envelope<Content: Encodable & Sendable>: Encodable, Sendable {
    /// What the screen shows.
    public var data: Content
    /// Metadata.
    public var meta: Meta
    /// Links.
    public var links: Links

    /// Creates an envelope.
    public init(data: Content, meta: Meta, links: Links) {
        self.data = data
        self.meta = meta
        self.links = links
    }
}

/// The state a screen is in. The error state is a problem document.
public enum ScreenState: String, Encodable, Sendable {
    /// There is content.
    case content
    /// There is no content, and that is not an error.
    case empty
    /// The content is being made; only with 202.
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
    /// Whether the upstream could not be reached.
    public var offline: Bool
    /// Whether the data is older than its freshness time.
    public var stale: Bool
    /// When this data was received. A confirmation by the upstream does not change it, so that the body stays the same.
    /// Null for local data.
    @Nullable public var fetchedAt: Date?
    /// Version of the data, if the screen counts versions.
    public var revision: Int?
    /// True if only a part of all data could be searched.
    public var partial: Bool?
    /// The notification to show, or null.
    @Nullable public var banner: Banner?
    /// Which part of a list this is.
    public var page: Page?

    /// Creates metadata from the provenance of the data.
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
    /// When a front end removes it.
    public enum Dismissal: Sendable, Equatable {
        /// With the next response without it.
        case online
        /// After a number of seconds.
        case after(seconds: Int)
    }

    /// What it is about, such as `offline`.
    public var code: String
    /// Text.
    public var text: String
    /// When it is removed.
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
