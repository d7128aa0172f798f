public struct Late {
  public struct Inner {}
}
public class LateGeneric<T> {}
