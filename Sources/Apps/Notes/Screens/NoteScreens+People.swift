import Screens

/// `GET /v1/notes/people`.
struct PeopleListScreen: Encodable, Sendable {
    struct Row: Encodable, Sendable {
        let id: Int64
        let fullName: String
        let avatarUrl: Link
        let href: Link

        init(_ person: Person) {
            id = person.id
            fullName = person.fullName
            href = "/v1/notes/people/\(person.id)"
            avatarUrl = "\(href)/avatar"
        }
    }

    let items: [Row]
    /// This screen has what concerns the user's own account.
    let actions = Action.ofAccount
    let empty: EmptyState?

    init(_ people: [Person], isEmpty: Bool) {
        items = people.map(Row.init)
        empty = isEmpty ? .noPeople : nil
    }

    private enum CodingKeys: CodingKey { case items, actions, empty }
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
            fields: [Field("password", .password), Field("new_password", .password)]
        ),
        Action(
            id: "delete_account",
            title: .deleteAccount,
            method: "POST",
            href: "/v1/notes/account/deletion",
            fields: [Field("password", .password)],
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
        _firstName = Nullable(wrappedValue: person.firstName)
        _lastName = Nullable(wrappedValue: person.lastName)
        _email = Nullable(wrappedValue: person.email)
        emailText = person.email.map(Text.init(verbatim:)) ?? .notAvailable
        _gender = Nullable(wrappedValue: person.gender)
        genderText = person.gender.map(Text.init(verbatim:)) ?? .notAvailable
        avatarUrl = "/v1/notes/people/\(person.id)/avatar"
    }
}

extension PeopleListScreen: JSONWritable {
    func write(to json: inout JSONWriter) throws {
        json.beginObject()
        try json.member("actions", actions)
        if let empty { try json.member("empty", empty) }
        try json.member("items", items)
        json.endObject()
    }
}

extension PeopleListScreen.Row: JSONWritable {
    func write(to json: inout JSONWriter) {
        json.beginObject()
        json.member("avatar_url", avatarUrl)
        json.member("full_name", fullName)
        json.member("href", href)
        json.name("id")
        json.value(id)
        json.endObject()
    }
}
