import Screens

extension EventStream {
    /// The screen of the saved documents.
    static let list = ["pdf.list"]
    /// The screens that show that a document was moved to the trash or out of it.
    static let listAndTrash = ["pdf.list", "pdf.trash"]

    /// Publishes to a profile that its documents have changed, on the screens that show it; does nothing without a new
    /// revision.
    func publishList(_ revision: Int?, of profile: String, _ screens: [String] = list) {
        guard let revision else { return }
        let audience = ServerEvent.Audience.profile(app: PDFApp.name, profile: profile)
        for screen in screens {
            publish(.screenChanged(app: PDFApp.name, screen: screen, revision: revision, audience: audience))
        }
    }
}
