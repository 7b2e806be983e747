import HTTP
import TestKit
import Testing

@testable import Screens

@Suite("Forms of screens")
struct ScreenFormTests {
    private struct Harbour: App {
        static let name = "harbour"
        static let title = Text("Harbour", ru: "Гавань")
        static let screens = [
            ScreenForm(
                "harbour.list",
                Text("Berths", ru: "Причалы"),
                tab: "/v1/harbour",
                search: "/v1/harbour",
                [.name("name")]
            ),
            ScreenForm("harbour.map", Text("Chart", ru: "Карта"), tab: "/v1/harbour/map"),
            ScreenForm("harbour.berth", Text("Berth", ru: "Причал"), [ScreenForm.Label("depth_text", "Depth")]),
        ]

        init(_ context: AppContext) throws {}
        static var routes: [AppRoute<Self>] { [] }
    }

    private struct Berth: Encodable, TitledScreen {
        let name: String
        var screenTitle: Text? { Text(verbatim: name) }
    }

    private func completed(_ data: some Encodable & Sendable, _ screen: String) -> (meta: Meta, links: Links) {
        var forms = ScreenForms()
        forms.add(Harbour.self)
        var envelope = Envelope(data: data, meta: Meta(screen: screen, provenance: .local), links: Links(self: "/v1"))
        forms.complete(&envelope)
        return (envelope.meta, envelope.links)
    }

    @Test("ONE-05 A main screen has its title, the main screens of its app, and its search")
    func main() {
        let (meta, links) = completed("", "harbour.list")
        #expect(meta.title[.russian] == "Причалы" && meta.labels.map(\.member) == ["name"])
        #expect(links.tabs?.map(\.screen) == ["harbour.list", "harbour.map"])
        #expect(links.search?.method == "GET" && links.search?.fields?.map(\.name) == ["q"])
    }

    @Test("ONE-05 A screen of one thing has the name of the thing as title, and no tabs")
    func thing() {
        let (meta, links) = completed(Berth(name: "Pier 7"), "harbour.berth")
        #expect(meta.title == Text(verbatim: "Pier 7") && links.tabs == nil && links.search == nil)
        #expect(meta.labels.first?.title == "Depth")
    }

    @Test("ONE-05 A screen without a form has the title of its app, or its own name")
    func unknown() {
        #expect(completed("", "harbour.log").meta.title == Harbour.title)
        #expect(completed("", "port.log").meta.title == "port.log")
    }
}
