import Concurrency
import Foundation
import HTTP
import HTTPTypes
import Screens
import Storage
import Upstream

/// The directory of people.
struct NotePeople: Sendable {
    let app: Notes

    /// `GET /v1/notes/people`: all people, or with `q` those with these words in their names, ordered by first name.
    @Sendable func list(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let search = try request.query.string("q").flatMap(NameSearch.init)
        let list = PagedList("notes.people", filter: search?.text, key: [.text, .text, .integer])
        let page = try request.query.page(of: list, maximumLimit: 500)
        let changeToken = app.store.peopleToken
        let (people, snapshot, result, banner) = try await read(request) { try app.store.people(page, search: search) }
        return try .read(
            PeopleListScreen(people.rows, isEmpty: people.total == 0),
            "notes.people",
            request,
            of: result,
            now: app.clock.now(),
            state: people.total == 0 ? .empty : .content,
            revision: snapshot?.number ?? 0,
            banner: banner,
            page: list.part(people, of: page),
            changeToken: changeToken
        )
    }

    /// `GET /v1/notes/people/{id}`.
    @Sendable func person(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let changeToken = app.store.peopleToken
        let (person, snapshot, result, banner) = try await read(request) { try app.store.person(number(in: request)) }
        guard let person else { throw Problem.notFound(.noPerson) }
        return try .read(
            PersonScreen(person),
            "notes.person",
            request,
            of: result,
            now: app.clock.now(),
            revision: snapshot?.number,
            banner: banner,
            changeToken: changeToken
        )
    }

    /// `GET /v1/notes/people/{id}/avatar`: fetched by the first request, then always from the store. Only URLs that the
    /// service has named are fetched.
    @Sendable func avatar(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let changeToken = app.store.peopleToken
        let isReplacing = try isReplacing(request)
        do {
            _ = try await app.store.catchUp()
            return try await picture(request, changeToken) {
                guard !isReplacing, case (let person, _?) = try app.store.person(number(in: request)) else {
                    throw Unfetched()
                }
                return try url(of: person, request)
            }
        } catch is Unfetched {
            // A failure here is one of the list of people: a problem, not a placeholder.
            _ = try await fetchedPeople(request)
            return try await picture(request, changeToken) {
                try url(of: try app.store.person(number(in: request)).person, request)
            }
        }
    }

    /// Reads some of the people. If there are none, or others are requested, they are fetched before.
    private func read<Rows>(_ request: ScreenRequest, _ rows: () throws -> (Rows, PeopleSnapshot?)) async throws
        -> (Rows, PeopleSnapshot?, ReadResult, Banner?)
    {
        let banner = try await app.store.catchUp()
        var (found, snapshot) = try rows()
        var result: ReadResult
        if let snapshot, try !isReplacing(request) {
            result = app.people.upstream.result(ofRowsFetchedAt: snapshot.fetchedAt)
        } else {
            result = try await fetchedPeople(request)
            (found, snapshot) = try rows()
        }
        if banner != nil { (result.provenance.stale, result.changeToken) = (true, nil) }
        return (found, snapshot, result, banner)
    }

    /// Returns the picture at a URL that is read from the store, or a placeholder if there is none.
    private func picture(_ request: ScreenRequest, _ changeToken: ChangeToken, at url: () throws -> String?)
        async throws -> ScreenResponse
    {
        // No revalidation, also if the request asks for it: these pictures never change.
        let cachePolicy: CachePolicy = try request.cachePolicy() == .onlyIfCached ? .onlyIfCached : .useCache
        return try await .picture(
            { try url().map { app.people.avatar(at: $0, isKept: app.store.keepsPictures) } },
            of: app.people.upstream,
            cachePolicy,
            clock: app.clock,
            changeToken: changeToken
        )
    }

    /// People have to be fetched first.
    private struct Unfetched: Error {}

    private func isReplacing(_ request: ScreenRequest) throws -> Bool {
        let cachePolicy = try request.cachePolicy()
        return try request.query.flag("replace") && cachePolicy == .revalidate
    }

    /// Returns the state of the stored people, or fetches people if there are none. `refresh=1` fetches others only
    /// together with `replace=1`, because every row would become another person.
    private func fetchedPeople(_ request: ScreenRequest) async throws -> ReadResult {
        let cachePolicy = try request.cachePolicy()
        let isReplacing = try isReplacing(request)
        let snapshot = try app.store.snapshot()
        if let snapshot, !isReplacing { return app.people.upstream.result(ofRowsFetchedAt: snapshot.fetchedAt) }
        var result = try await app.store.fetchPeople(app.people, cachePolicy, replacing: snapshot, now: app.clock.now())
        {
            [events = app.events] number in
            events.publish(["notes.people"], of: NotesApp.name, number, to: .app(NotesApp.name))
        }
        // The same time as in each later response.
        if let stored = try app.store.snapshot() {
            (result.provenance.validatedAt, result.provenance.contentFetchedAt) = (stored.fetchedAt, nil)
        }
        return result
    }

    /// Returns the number that the path names; nil if it is none.
    private func number(in request: ScreenRequest) throws -> Int64? {
        let id = try request.parameter("id")
        return Int64(id).flatMap { String($0) == id ? $0 : nil }
    }

    private func url(of person: Person?, _ request: ScreenRequest) throws -> String? {
        guard let person else { throw Problem.notFound(.noPerson) }
        return person.avatarURL
    }
}

/// `GET /v1/notes/people`.
struct PeopleListScreen: Encodable, Sendable {
    struct Row: Encodable, Sendable {
        let id: Int64
        let fullName: String
        let avatarUrl: Link
        let href: Link
        /// Tells people of one name apart.
        let emailText: Text

        init(_ person: Person) {
            id = person.id
            fullName = person.fullName
            emailText = person.emailText
            href = "/v1/notes/people/\(person.id)"
            avatarUrl = "\(href)/avatar"
        }
    }

    let items: [Row]
    /// This screen has the actions on the user's own account.
    let actions = Action.ofAccount
    let empty: EmptyState?

    init(_ people: [Person], isEmpty: Bool) {
        items = people.map(Row.init)
        empty = isEmpty ? .noPeople : nil
    }
}

extension Action {
    /// The logout, and changes of the account.
    fileprivate static let ofAccount = [
        Action(id: "logout", title: .logOut, method: "DELETE", href: "/v1/notes/session"),
        Action(
            id: "change_password",
            title: .changePassword,
            method: "PUT",
            href: "/v1/notes/account/password",
            fields: [Field("password", .password, .password), Field("new_password", .password, .newPassword)]
        ),
        Action(
            id: "delete_account",
            title: .deleteAccount,
            method: "POST",
            href: "/v1/notes/account/deletion",
            fields: [Field("password", .password, .password)],
            confirm: Confirmation(message: .confirmAccountDeletion, buttons: [.delete, .cancel])
        ),
    ]
}

extension EmptyState {
    /// No person has such a name.
    static let noPeople = EmptyState(
        title: .noMatchingPeople,
        text: .noMatchingPeopleHint,
        action: .show("show_all", .showAllPeople, "/v1/notes/people")
    )
}

/// `GET /v1/notes/people/{id}`.
struct PersonScreen: Encodable, Sendable {
    let id: Int64
    let fullName: String
    @Nullable var firstName: String?
    @Nullable var lastName: String?
    @Nullable var email: String?
    let emailText: Text
    @Nullable var gender: String?
    let genderText: Text
    let avatarUrl: Link

    init(_ person: Person) {
        id = person.id
        fullName = person.fullName
        firstName = person.firstName
        lastName = person.lastName
        email = person.email
        emailText = person.emailText
        gender = person.gender
        genderText = person.gender.map(Text.init(verbatim:)) ?? .notAvailable
        avatarUrl = "/v1/notes/people/\(person.id)/avatar"
    }
}

/// A person of the people API.
struct Person: Sendable, Equatable {
    /// Number of the row: the key within one snapshot; another person in the next.
    let id: Int64
    var firstName: String?
    var lastName: String?
    var email: String?
    /// Free text.
    var gender: String?
    var avatarURL: String?

    /// Most characters of a text that are kept.
    static let longestText = 2048

    var emailText: Text { email.map(Text.init(verbatim:)) ?? .notAvailable }

    /// First and last name, if they are known.
    var fullName: String { [firstName, lastName].compactMap(\.self).joined(separator: " ") }
}

/// The people of one fetch.
struct PeopleSnapshot: Sendable, Equatable {
    /// Counts how often people were fetched.
    let number: Int
    let fetchedAt: Date
    let count: Int
}

/// A search for people: each of its words must be the beginning of a word of the name, in any case and with or without
/// diacritics.
struct NameSearch: Sendable, Equatable {
    /// The most words that are used; the others are ignored.
    static let mostWords = 16

    /// Its words, folded.
    let words: [String]

    /// Reads a text; nil if it is blank. Without a word, such as `!`, no name matches.
    init?(_ text: String) {
        guard !text.allSatisfy(\.isWhitespace) else { return nil }
        words = Array(Self.words(text).prefix(Self.mostWords))
    }

    /// The words in a normal form.
    var text: String { words.joined(separator: " ") }

    /// Returns whether a name has all words.
    func matches(_ name: String) -> Bool {
        let parts = Self.words(name)
        return !words.isEmpty && words.allSatisfy { word in parts.contains { $0.utf8.starts(with: word.utf8) } }
    }

    private static func words(_ text: String) -> [String] {
        PlaceName.folded(text).split { !$0.isLetter && !$0.isNumber }.map(String.init)
    }
}
