package import Upstream

/// A button of a screen: `data.actions[]` (docs/contract.md, "Envelope").
package struct Action: Encodable, Sendable, Equatable {
    package struct Confirmation: Encodable, Sendable, Equatable {
        package var message: Text
        /// Buttons, the confirming one first.
        package var buttons: [Text]

        package init(message: Text, buttons: [Text]) {
            self.message = message
            self.buttons = buttons
        }
    }

    /// Name for programs.
    package var id: String
    package var title: Text
    /// Method of the request that does it.
    package var method: String
    /// Target of that request.
    package var href: Link
    /// Constant members of the JSON body of that request; absent if it has none.
    package var body: [String: Constant]?
    /// Members of the body that the user fills in, parameters of the query of a GET; absent if there are none.
    package var fields: [Field]?
    /// Header fields of that request, by name; absent if it needs none.
    package var headers: [String: String]?
    /// Whether it can be done now.
    package var enabled: Bool
    /// Why it cannot be done now, for people; absent if it can.
    var disabledReason: Text?
    @Nullable package var confirm: Confirmation?

    /// - Parameter reason: Why it cannot be done now; nil if it can.
    package init(
        id: String,
        title: Text,
        method: String,
        href: Link,
        body: [String: Constant]? = nil,
        fields: [Field]? = nil,
        headers: [String: String]? = nil,
        disabled reason: Text? = nil,
        confirm: Confirmation? = nil
    ) {
        self.id = id
        self.title = title
        self.method = method
        self.href = href
        self.body = body
        self.fields = fields
        self.headers = headers
        enabled = reason == nil
        disabledReason = reason
        self.confirm = confirm
    }
}

extension Action {
    /// Returns an action that shows another screen, or reloads this one.
    package static func show(_ id: String, _ title: Text, _ href: Link) -> Action {
        Action(id: id, title: title, method: "GET", href: href)
    }

    /// A constant member of the JSON body of the request.
    package enum Constant: Encodable, Sendable, Equatable {
        case integer(Int)
        case text(String)
        case texts([String])
        case boolean(Bool)
        case null

        package func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .integer(let value): try container.encode(value)
            case .text(let value): try container.encode(value)
            case .texts(let values): try container.encode(values)
            case .boolean(let value): try container.encode(value)
            case .null: try container.encodeNil()
            }
        }
    }

    /// A member of the body that the user fills in.
    package struct Field: Encodable, Sendable, Equatable {
        package enum Kind: String, Encodable, Sendable {
            case text, integer, number, boolean, password
            /// An object of `lat`, `lon` and `name`.
            case location
            /// The id of a document.
            case document
            /// Ids of pages of the document, in the order that they are to have.
            case pages
            /// Ids of lines of a list, in the order that they are to have.
            case items
            /// Files, as parts of a form.
            case files
        }

        package let name: String
        package let kind: Kind
        package let title: Text
        /// The initial value as text; null if there is none, or if it is no text.
        @Nullable package var value: String?
        /// The ids that it is filled with at first; absent for other kinds.
        package let values: [String]?
        /// The place that it is filled with at first; absent for other kinds.
        package let location: Location?
        /// The values to choose from; absent if any other is possible.
        package let options: [Option]?
        /// Whether the request is refused without it.
        package let required: Bool

        package init(
            _ name: String,
            _ kind: Kind,
            _ title: Text,
            value: String? = nil,
            values: [String]? = nil,
            location: Location? = nil,
            options: [Option]? = nil,
            required: Bool = true
        ) {
            self.name = name
            self.kind = kind
            self.title = title
            self.value = value
            self.values = values
            self.location = location
            self.options = options
            self.required = required
        }
    }

    /// A value of a field that the user chooses.
    package struct Option: Encodable, Sendable, Equatable {
        /// As text, such as that of an id.
        let value: String
        let title: Text
        /// Null without a picture.
        @Nullable var imageUrl: Link?

        package init(_ value: String, _ title: Text, imageUrl: Link? = nil) {
            (self.value, self.title) = (value, title)
            self.imageUrl = imageUrl
        }
    }

    /// A place on the map that a field is filled with.
    package struct Location: Encodable, Sendable, Equatable {
        let lat: Double
        let lon: Double
        let name: String

        package init(latitude: Double, longitude: Double, name: String) {
            (lat, lon, self.name) = (latitude, longitude, name)
        }
    }
}

/// Work that continues after a response, in one form for all kinds: uploads, downloads, contents kept offline, changes
/// in the outbox, and operations of an upstream (schema `Task`).
package struct TaskScreen: Encodable, Sendable {
    /// Its identity among those of its kind.
    let id: String
    let kind: String
    let kindText: Text
    let state: String
    let stateText: Text
    /// From 0 to 1, which it is only after the end; null for work that cannot be measured.
    @Nullable var progress: Double?
    @Nullable var progressText: Text?
    /// Why it is not done; null if nothing is in its way.
    @Nullable var problem: String?
    @Nullable var problemText: Text?
    /// The screen that shows it.
    let href: Link
    let actions: [Action]

    package init(
        _ id: String,
        kind: (name: String, text: Text),
        state: (OutboxState, text: Text),
        progress: (share: Double, text: Text)? = nil,
        problem: (code: String, text: Text)? = nil,
        href: Link,
        actions: [Action] = []
    ) {
        (self.id, self.kind, kindText) = (id, kind.name, kind.text)
        (self.state, stateText) = (state.0.rawValue, state.text)
        (self.progress, progressText) = (progress?.share, progress?.text)
        (self.problem, problemText) = (problem?.code, problem?.text)
        (self.href, self.actions) = (href, actions)
    }
}
