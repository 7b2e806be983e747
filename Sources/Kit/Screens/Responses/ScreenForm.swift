/// The parts of a screen that are the same in all of its responses. With them a front end draws any screen without a
/// text of its own (docs/contract.md, "Drawing a screen").
package struct ScreenForm: Sendable {
    /// Name of the screen, `app.screen`.
    package let screen: String
    let title: Text
    private let tab: Link?
    fileprivate let search: Link?
    fileprivate let labels: [Label]

    /// - Parameters:
    ///   - title: Its title; that of one thing is the name of the thing (``TitledScreen``).
    ///   - tab: Its address, if it is one of the main screens of the app.
    ///   - search: The screen that searches the rows of this one by `q`.
    ///   - labels: The members that people see, of the content and of its rows, in their order.
    package init(_ screen: String, _ title: Text, tab: Link? = nil, search: Link? = nil, _ labels: [Label] = []) {
        (self.screen, self.title, self.tab, self.search, self.labels) = (screen, title, tab, search, labels)
    }

    /// A member that people see.
    package struct Label: Encodable, Sendable {
        package enum Kind: String, Encodable, Sendable {
            /// The name of the thing, which heads the others.
            case name
            /// A text or number; an object or rows with such members; a state that is shown by its title if it is true.
            case text
            /// The address of a picture, or several.
            case picture
            /// The address of a file or a page.
            case link
        }

        let member: String
        let kind: Kind
        /// Null for a value that is clear without one.
        @Nullable var title: Text?

        package init(_ member: String, _ title: Text? = nil, _ kind: Kind = .text) {
            (self.member, self.kind, _title) = (member, kind, Nullable(wrappedValue: title))
        }

        package static func name(_ member: String) -> Label { Label(member, nil, .name) }
        package static func picture(_ member: String) -> Label { Label(member, nil, .picture) }
    }

    /// A main screen of an app, as its other main screens name it.
    struct Tab: Encodable, Sendable, Equatable {
        let screen: String
        let title: Text
        let href: Link
    }

    fileprivate var asTab: Tab? { tab.map { Tab(screen: screen, title: title, href: $0) } }
}

/// The content of a screen of one thing, which has the name of the thing as title.
package protocol TitledScreen {
    /// Nil for the title of the screen.
    var screenTitle: Text? { get }
}

/// The forms of all screens that a server has.
package struct ScreenForms: Sendable {
    /// Those of the server that makes the response.
    @TaskLocal static var current = ScreenForms()

    private var forms: [String: ScreenForm] = [:]
    /// The tabs of the app of each screen that is one itself.
    private var tabs: [String: [ScreenForm.Tab]] = [:]
    /// Titles of the apps by their names, for screens without a form.
    private var titles: [String: Text] = [:]

    package init() { add(Self.ofServer) }

    package mutating func add(_ app: (some App).Type) {
        titles[app.name] = app.title
        add(app.screens)
    }

    private mutating func add(_ more: [ScreenForm]) {
        let tabs = more.compactMap(\.asTab)
        for form in more { forms[form.screen] = form }
        for tab in tabs { self.tabs[tab.screen] = tabs }
    }

    /// The title of a screen; nil if it has no form.
    package func title(of screen: String) -> Text? { forms[screen]?.title }

    func complete<Content>(_ envelope: inout Envelope<Content>) {
        let screen = envelope.meta.screen
        let own = (envelope.data as? any TitledScreen)?.screenTitle
        let ofApp = titles[String(screen.prefix { $0 != "." })]
        envelope.meta.title = own ?? title(of: screen) ?? ofApp ?? Text(verbatim: screen)
        envelope.meta.labels = forms[screen]?.labels ?? []
        envelope.links.tabs = tabs[screen]
        envelope.links.search = forms[screen]?.search.map(Action.search)
    }

    private static let ofServer = [
        ScreenForm("index", "Larder", [.name("title")]),
        ScreenForm("status", .serverStatus, [.name("title")]),
        ScreenForm(
            "usage",
            .storage,
            [.name("title"), ScreenForm.Label("used_text", .used), ScreenForm.Label("quota_text", .quota)]
        ),
        ScreenForm("devices", .devices, [.name("name"), ScreenForm.Label("profile", .profile)]),
    ]
}

extension Action {
    /// Requests the rows that a text finds; its field is a parameter of the query.
    fileprivate static func search(_ href: Link) -> Action {
        Action(id: "search", title: .search, method: "GET", href: href, fields: [Field("q", .text, .search)])
    }
}
