import Larder

@main enum LarderMain {
    @MainActor static func main() async { await LarderProgram.main() }
}
