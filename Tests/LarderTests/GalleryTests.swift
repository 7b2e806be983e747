import JSONValues
import Sandbox
import Testing

@testable import Larder

/// Screens and states of a gallery.
@Suite struct GalleryTests {
    @Test("HARN-39 the screens are those of the contract, and the page of each is one of it")
    func screens() throws {
        let document = try AppList.standard.contract().root
        let screens = GalleryScreen.all(in: document)
        #expect(Set(screens.map(\.name)).isSuperset(of: ["listShips", "getShip", "getDiskFile", "searchShop"]))
        #expect(!screens.contains { $0.name == "getShipImage" || $0.name == "listenToEvents" })
        let paths = document.object?["paths"]?.object?.members ?? []
        let pages = paths.filter { $0.value.object?["x-larder-page"]?.bool == true }.map { page in
            GalleryScreen(name: "", path: page.name, parameters: [], page: nil)
        }
        #expect(screens.count { $0.page != nil } > 20)
        for screen in screens where screen.page != nil {
            let page = try #require(screen.page(of: screen.example))
            #expect(!page.contains("{") && pages.screen(of: page) != nil, "\(screen.name): \(page)")
        }
    }

    @Test("HARN-39 an address is that of the screen with the fewest names, and fills its page")
    func addresses() throws {
        let screens = [
            GalleryScreen(name: "one", path: "/v1/notes/{id}", parameters: [], page: "/notes/{id}"),
            GalleryScreen(name: "map", path: "/v1/notes/map", parameters: [], page: nil),
            GalleryScreen(
                name: "file",
                path: "/v1/disk/file",
                parameters: [.init(name: "path", isInQuery: true, example: "disk:/a b")],
                page: "/disk/file?path={path}"
            ),
        ]
        #expect(screens.screen(of: "/v1/notes/map?zoom=2")?.name == "map" && screens.screen(of: "/v1/ships") == nil)
        #expect(screens.screen(of: "/v1/notes/n1")?.page(of: "/v1/notes/n1?tz=UTC") == "/notes/n1")
        #expect(screens[2].example == "/v1/disk/file?path=disk%3A%2Fa%20b")
        #expect(screens[2].page(of: "/v1/disk/file?path=disk:/%C3%A4") == "/disk/file?path=disk%3A%2F%C3%A4")
        let screen: JSONValue = [
            "items": [["href": "/v1/notes/n1"], ["actions": [["method": "DELETE", "href": "/v1/notes/n2"]]]],
            "template": "/v1/notes/{id}", "text": "/notes/n3",
        ]
        #expect(screen.links == ["/v1/notes/n1"])
    }

    @Test("HARN-39 each condition is shown with stored data and without any, under a name that a file may have")
    func states() throws {
        let states = GalleryState.all(under: try HarnessCondition.list("offline,error(503, 9)"))
        #expect(states.map(\.name) == ["new", "fresh", "offline", "offline-new", "error-503-9", "error-503-9-new"])
        #expect(states.map(\.isFilled) == [false, true, true, false, true, false])
    }

    @Test("HARN-39 names that a page or a file cannot have are escaped, or lack those characters")
    func names() {
        let screen = GalleryScreen(name: "<b>/../é", path: "/v1/a", parameters: [], page: nil)
        let met = FrontCoverage.Met(route: screen.name, status: 200, state: "200 fresh")
        let index = GalleryIndex(
            rows: [(screen, "/v1/a?b=<c>")],
            states: ["fresh"],
            cells: [.init(state: "fresh", met: met)],
            hasBrowser: true
        )
        #expect(index.html.contains("<th>&lt;b&gt;/../é<br><code>/v1/a?b=&lt;c&gt;</code>"))
        #expect(index.html.contains(#"href="b/fresh.json""#) && GalleryIndex.fileName("a_b-1 (2)") == "a_b-1-2")
    }
}
