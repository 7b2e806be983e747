package import Cluster
package import Foundation
package import HTTP
package import Storage

/// The body of every 2xx response of a screen (docs/contract.md, "Envelope").
package struct Envelope<Content: Encodable & Sendable>: Encodable, Sendable {
    package var data: Content
    package var meta: Meta
    package var links: Links

    package init(data: Content, meta: Meta, links: Links) {
        self.data = data
        self.meta = meta
        self.links = links
    }
}

/// `links` of the envelope.
package struct Links: Encodable, Sendable, Equatable {
    /// This response.
    package var `self`: Link
    /// The next page, or null.
    @Nullable package var next: Link?
    /// The main screens of the app, if this is one of them.
    var tabs: [ScreenForm.Tab]?
    /// Finds the rows that a text names; nil on screens without a search.
    var search: Action?

    package init(self own: Link, next: Link? = nil) {
        self.`self` = own
        self.next = next
    }
}

/// The state a screen is in. The error state is a problem document.
package enum ScreenState: String, Encodable, Sendable {
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
    /// The heading; see ``ScreenForm``.
    var title: Text = ""
    package var state: ScreenState
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
    /// How old the data is, and why there is none newer; absent if it is not ``stale``.
    package var freshnessText: Text?
    /// The words that were searched for; absent if they were those of the text.
    var search: Search?
    /// The notification to show, or null.
    @Nullable package var banner: Banner?
    /// Which part of a list this is.
    package var page: Page?
    /// Number of writes that wait for the upstream; absent if none does.
    package var pending: Int?
    /// Number of them that need a decision of the user: they were refused, are in conflict, or fail again and again.
    /// Absent if there are none.
    var needsDecision: Int?
    /// The members of the content, and of its rows, that people see.
    var labels: [ScreenForm.Label] = []

    /// The ways in which a search found rows, other than by the words of its text.
    struct Search: Encodable, Sendable {
        let used: [SearchWay]
        /// The words that rows were found by.
        let `for`: String
        let text: Text

        /// Nil if they are those of the text.
        init?(_ variant: SearchVariant) {
            if variant.used.isEmpty { return nil }
            (used, `for`, text) = (variant.used, variant.text, .results(for: variant.text))
        }
    }

    /// Returns the metadata of rows that were found by other words than those of a text; nil for those of the text.
    package func searched(_ variant: SearchVariant?) -> Meta {
        var meta = self
        meta.search = variant.flatMap(Search.init)
        return meta
    }

    /// Returns the metadata of a screen of users' rows that may lack changes of other servers.
    ///
    /// - Parameter lag: nil if they lack none.
    package func lagging(_ lag: UserDatabase.Lag?) -> Meta {
        guard let lag else { return self }
        var meta = self
        meta.stale = true
        meta.freshnessText = meta.freshnessText ?? lag.banner.text
        meta.banner = lag.banner
        return meta
    }

    /// The writes of a user that wait for the upstream.
    package struct PendingWrites: Sendable, Equatable {
        package var count: Int
        /// Number of them that need a decision of the user.
        package var undecided: Int

        package init(count: Int, undecided: Int) {
            (self.count, self.undecided) = (count, undecided)
        }
    }

    /// Creates metadata from the provenance of the data.
    ///
    /// - Parameter banner: The notification to show; nil for one about writes that need a decision or stale data, if
    ///   there are some.
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
        fetchedAt = provenance.contentFetchedAt ?? provenance.validatedAt
        self.revision = revision
        self.partial = partial
        self.page = page
        self.pending = pending?.count
        needsDecision = pending.flatMap { $0.undecided > 0 ? $0.undecided : nil }
        freshnessText = provenance.stale ? Text.freshness(of: provenance) : nil
        let other = needsDecision.map(Banner.needsDecision) ?? freshnessText.map(Banner.stale)
        self.banner = banner ?? other
    }
}

/// A notification above a screen's content.
package struct Banner: Encodable, Sendable, Equatable {
    /// When a front end removes it.
    package enum Dismissal: Sendable, Equatable {
        /// With the next response without it, once the upstream can be reached.
        case online
        /// With the next response without it, once the user has decided.
        case resolved
        /// After a number of seconds.
        case after(seconds: Int)
    }

    /// The subject, such as `offline`.
    package let code: String
    package let text: Text
    /// When it is removed: `on_online`, `on_resolved`, or `after_s`, with the seconds beside it.
    let dismiss: String
    let afterS: Int?

    package init(code: String, text: Text, dismissal: Dismissal) {
        (self.code, self.text) = (code, text)
        (dismiss, afterS) =
            switch dismissal {
            case .online: ("on_online", nil)
            case .resolved: ("on_resolved", nil)
            case .after(let seconds): ("after_s", seconds)
            }
    }

    /// Returns the notification that writes need a decision of the user.
    static func needsDecision(_ count: Int) -> Banner {
        Banner(code: "needs-decision", text: .needsDecision(count), dismissal: .resolved)
    }

    /// Returns the notification that there may be newer data.
    static func stale(_ freshness: Text) -> Banner { Banner(code: "stale", text: freshness, dismissal: .resolved) }

    /// Returns the notification that the store of several servers does not respond.
    ///
    /// - Parameter age: How old the shown data of users may be.
    package static func storeUnavailable(age: Duration) -> Banner {
        let seconds = max(1, Int(age.components.seconds))
        return Banner(code: "store-unavailable", text: .storeStale(seconds: seconds), dismissal: .resolved)
    }
}

extension UserDatabase.Lag {
    /// The notification for a screen that shows the rows.
    package var banner: Banner { .storeUnavailable(age: age) }
}

/// The state of a screen without content.
package struct EmptyState: Encodable, Sendable, Equatable {
    package let title: Text
    /// Text below the heading; may be empty.
    package let text: Text
    /// Title of the button below the text.
    package let button: Text
    /// The action of the button; nil for one that only the front end knows, such as to close the screen.
    package let action: Action?

    package init(title: Text, text: Text, button: Text, action: Action? = nil) {
        self.title = title
        self.text = text
        self.button = button
        self.action = action
    }

    /// Creates an empty state whose button is an action.
    package init(title: Text, text: Text, action: Action) {
        self.init(title: title, text: text, button: action.title, action: action)
    }
}
