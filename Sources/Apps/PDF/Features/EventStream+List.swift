import Screens

extension EventStream {
    /// Publishes that a profile's list of saved documents has changed; does nothing without a new revision.
    func publishList(_ revision: Int?, of profile: String) {
        guard let revision else { return }
        let audience = ServerEvent.Audience.profile(app: PDFApp.name, profile: profile)
        publish(.screenChanged(app: PDFApp.name, screen: "pdf.list", revision: revision, audience: audience))
    }
}
