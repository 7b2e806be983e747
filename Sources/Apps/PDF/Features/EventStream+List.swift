import Screens

extension EventStream {
    /// Publishes that the list of saved documents has changed; does nothing without a new revision.
    func publishList(_ revision: Int?) {
        guard let revision else { return }
        publish(.screenChanged(app: "pdf", screen: "pdf.list", revision: revision))
    }
}
