import Screens

extension EventStream {
    /// The screens that show the notes of an account.
    static let noteScreens = ["notes.list", "notes.map"]

    /// Publishes to an account that its notes have changed, on the screens that show it.
    func publishNotes(_ revision: Int, to account: Int64, _ screens: [String] = noteScreens) {
        let audience = ServerEvent.Audience.account(app: NotesApp.name, account: "\(account)")
        for screen in screens {
            publish(.screenChanged(app: NotesApp.name, screen: screen, revision: revision, audience: audience))
        }
    }
}
